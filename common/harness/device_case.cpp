// SPDX-License-Identifier: MIT
#include "common/harness/device_case.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace workshop {
namespace {

constexpr unsigned char kPoison = 0xff;  // 0xffff is NaN in FP16 and in BF16

std::size_t bytes_of(const Matrix<std::uint16_t>& matrix) {
  return matrix.values.size() * sizeof(std::uint16_t);
}

}  // namespace

DeviceCase::DeviceCase(const Inputs& inputs, Mask mask, int block_n)
    : q_(bytes_of(inputs.q)),
      k_(bytes_of(inputs.k)),
      v_(bytes_of(inputs.v)),
      o_(bytes_of(inputs.q)),
      problem_{.q = {q_.data(), inputs.q.rows, inputs.q.cols},
               .k = {k_.data(), inputs.k.rows, inputs.k.cols},
               .v = {v_.data(), inputs.v.rows, inputs.v.cols},
               .o = {o_.data(), inputs.q.rows, inputs.q.cols},
               .type = inputs.type,
               .mask = mask,
               .block_n = block_n} {
  q_.upload(inputs.q.values.data());
  k_.upload(inputs.k.values.data());
  v_.upload(inputs.v.values.data());
}

Matrix<std::uint16_t> DeviceCase::run(AttentionFunction attention) {
  o_.fill(kPoison);
  attention(problem_, nullptr);
  simt::synchronize();

  const std::pair<std::string_view, const simt::Buffer&> tensors[] = {
      {"q", q_}, {"k", k_}, {"v", v_}, {"o", o_}};
  for (const auto& [name, buffer] : tensors) {
    if (!buffer.guards_intact()) {
      throw simt::KernelFault(
          fmt::format("the kernel wrote outside {}: a guard word beside it has "
                      "changed",
                      name));
    }
  }
  Matrix<std::uint16_t> o(int(problem_.o.rows), int(problem_.o.cols));
  o_.download(o.values.data());
  return o;
}

double DeviceCase::time_ms(AttentionFunction attention) {
  return simt::time_ms([&] { attention(problem_, nullptr); });
}

}  // namespace workshop
