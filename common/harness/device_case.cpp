// SPDX-License-Identifier: MIT
#include "common/harness/device_case.hpp"

#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace workshop {
namespace {

constexpr unsigned char kPoison = 0xff;  // 0xffff is NaN in FP16 and in BF16

std::size_t bytes_of(const Matrix<std::uint16_t>& matrix) {
  return matrix.values.size() * sizeof(std::uint16_t);
}

/// What a buffer holds, in the shape of `like`.
Matrix<std::uint16_t> downloaded(const simt::Buffer& buffer, const Matrix<std::uint16_t>& like) {
  Matrix<std::uint16_t> matrix(like.rows, like.cols);
  buffer.download(matrix.values.data());
  return matrix;
}

}  // namespace

DeviceCase::DeviceCase(const Inputs& inputs, Mask mask, int block_n)
    : inputs_(inputs),
      q_(bytes_of(inputs.q)),
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

void DeviceCase::require_untouched() const {
  const std::tuple<std::string_view, const simt::Buffer&, const Matrix<std::uint16_t>*> tensors[] =
      {{"q", q_, &inputs_.q}, {"k", k_, &inputs_.k}, {"v", v_, &inputs_.v}, {"o", o_, nullptr}};
  for (const auto& [name, buffer, uploaded] : tensors) {
    if (!buffer.guards_intact()) {
      throw simt::KernelFault(
          fmt::format("the kernel wrote outside {}: a guard word beside it has changed", name));
    }
    if (uploaded != nullptr && downloaded(buffer, *uploaded) != *uploaded) {
      throw simt::KernelFault(fmt::format("the kernel changed {}, which it may only read", name));
    }
  }
}

DeviceCase::Outcome DeviceCase::timed_run(AttentionFunction attention, int launches) {
  o_.fill(kPoison);
  const double time_ms =
      simt::time_ms([&](simt::Stream stream) { attention(problem_, stream); }, launches);
  require_untouched();
  return {downloaded(o_, inputs_.q), time_ms};
}

}  // namespace workshop
