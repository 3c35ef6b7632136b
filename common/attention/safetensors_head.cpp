// SPDX-License-Identifier: MIT
/// @file
/// Between the tensors of a file and one attention head: [N][D] within the contract, or a refusal.
#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/attention/problem.hpp"
#include "common/attention/safetensors.hpp"

namespace workshop {
namespace {

/// "tensor q of FILE", as every sentence here begins.
std::string subject(const std::string& name, const std::string& file) {
  return fmt::format("{}: tensor {}", file, name);
}

std::string names_of(const StoredTensors& tensors) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string_view> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  if (names.empty()) return "none";
  const bool cut = names.size() > kShown;
  if (cut) names.resize(kShown);
  return fmt::format("{}{}", fmt::join(names, ", "), cut ? ", ..." : "");
}

/// [N, D], and nothing with a batch or several heads.
void require_one_head(const std::vector<std::int64_t>& shape, const std::string& name,
                      const std::string& file) {
  if (shape.size() == 2) return;
  std::string remedy;
  if (shape.size() == 3) remedy = fmt::format("; one head at a time: save {}[head]", name);
  if (shape.size() == 4) remedy = fmt::format("; one head at a time: save {}[batch, head]", name);
  throw Refusal(fmt::format("{} has the shape [{}]; allowed: [N, D]{}", subject(name, file),
                            fmt::join(shape, ", "), remedy));
}

/// The tensor of that name, if its type is one of `dtypes` and its shape that of a head.
StoredTensor head_tensor(const StoredTensors& tensors, const std::string& name,
                         std::span<const std::string_view> dtypes, const std::string& file) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    throw Refusal(fmt::format("{}: there is no tensor {}; those there are: {}", file, name,
                              names_of(tensors)));
  }
  const StoredTensor& tensor = found->second;
  if (std::find(dtypes.begin(), dtypes.end(), tensor.dtype) == dtypes.end()) {
    throw Refusal(fmt::format("{} has the type {}; allowed: {}", subject(name, file), tensor.dtype,
                              fmt::join(dtypes, ", ")));
  }
  require_one_head(tensor.shape, name, file);
  if (tensor.shape[0] < 1 || tensor.shape[0] > kMaxSeqLen) {
    throw Refusal(fmt::format("{} has N = {} rows; allowed: 1 to {}", subject(name, file),
                              tensor.shape[0], kMaxSeqLen));
  }
  if (std::find(std::begin(kHeadDims), std::end(kHeadDims), tensor.shape[1]) ==
      std::end(kHeadDims)) {
    throw Refusal(fmt::format("{} has D = {} columns; allowed: {}", subject(name, file),
                              tensor.shape[1], fmt::join(kHeadDims, ", ")));
  }
  return tensor;
}

/// The bytes of an [N][D] tensor as elements of the type they are stored in.
template <typename Element>
Matrix<Element> elements_of(const StoredTensor& tensor) {
  Matrix<Element> elements(int(tensor.shape[0]), int(tensor.shape[1]));
  std::memcpy(elements.values.data(), tensor.bytes.data(), tensor.bytes.size());
  return elements;
}

template <typename Element>
Matrix<double> numbers_of(const StoredTensor& tensor) {
  const Matrix<Element> elements = elements_of<Element>(tensor);
  Matrix<double> numbers(elements.rows, elements.cols);
  std::copy(elements.values.begin(), elements.values.end(), numbers.values.begin());
  return numbers;
}

/// `what` of k or v must be that of q.
template <typename T>
void require_same(const char* what, const T& of_q, const std::string& name, const T& of_other,
                  const std::string& file) {
  if (of_q == of_other) return;
  throw Refusal(fmt::format("{} has {} {}, but q has {}; allowed: the same for q, k and v",
                            subject(name, file), what, of_other, of_q));
}

ElementType element_type(const std::string& dtype) {
  return dtype == "F16" ? ElementType::fp16 : ElementType::bf16;
}

}  // namespace

Inputs inputs_from(const StoredTensors& tensors, const std::string& file_name) {
  constexpr std::string_view kDtypes[] = {"F16", "BF16"};
  const StoredTensor q = head_tensor(tensors, "q", kDtypes, file_name);
  const StoredTensor k = head_tensor(tensors, "k", kDtypes, file_name);
  const StoredTensor v = head_tensor(tensors, "v", kDtypes, file_name);
  for (const auto& [name, tensor] : {std::pair("k", &k), std::pair("v", &v)}) {
    require_same("the type", q.dtype, name, tensor->dtype, file_name);
    require_same("N =", q.shape[0], name, tensor->shape[0], file_name);
    require_same("D =", q.shape[1], name, tensor->shape[1], file_name);
  }
  return {element_type(q.dtype), elements_of<std::uint16_t>(q), elements_of<std::uint16_t>(k),
          elements_of<std::uint16_t>(v)};
}

Matrix<double> numbers_from(const StoredTensors& tensors, const std::string& tensor,
                            const std::string& file_name) {
  constexpr std::string_view kDtypes[] = {"F16", "BF16", "F32", "F64"};
  const StoredTensor stored = head_tensor(tensors, tensor, kDtypes, file_name);
  if (stored.dtype == "F64") return numbers_of<double>(stored);
  if (stored.dtype == "F32") return numbers_of<float>(stored);
  return widen(element_type(stored.dtype), elements_of<std::uint16_t>(stored));
}

StoredTensor stored_tensor(ElementType type, const Matrix<std::uint16_t>& stored) {
  StoredTensor tensor{
      .dtype = type == ElementType::fp16 ? "F16" : "BF16",
      .shape = {stored.rows, stored.cols},
      .bytes = std::vector<std::byte>(stored.values.size() * sizeof(stored.values[0]))};
  std::memcpy(tensor.bytes.data(), stored.values.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace workshop
