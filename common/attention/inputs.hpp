// SPDX-License-Identifier: MIT
/// @file
/// Q, K and V on the host, and where they come from: named families, or a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/attention/element.hpp"
#include "common/attention/matrix.hpp"

namespace workshop {

/// Q, K and V as stored: 16-bit patterns of `type`.
struct Inputs {
  ElementType type = ElementType::fp16;
  Matrix<std::uint16_t> q;  // [N][D]
  Matrix<std::uint16_t> k;  // [N][D]
  Matrix<std::uint16_t> v;  // [N][D]

  int seq_len() const { return q.rows; }
  int head_dim() const { return q.cols; }
};

/// The stored elements as numbers, exactly.
template <typename T = double>
Matrix<T> widen(ElementType type, const Matrix<std::uint16_t>& stored) {
  Matrix<T> numbers(stored.rows, stored.cols);
  for (std::size_t i = 0; i < stored.values.size(); ++i) {
    numbers.values[i] = T(to_float(type, stored.values[i]));
  }
  return numbers;
}

/// Each number rounded once to `type`.
Matrix<std::uint16_t> round_matrix(ElementType type, const Matrix<double>& numbers);

/// A kind of input, and which mistake it brings to light.
struct InputFamily {
  std::string_view name;
  std::string_view catches;  // one line: what a wrong kernel does on it
};

std::span<const InputFamily> input_families();

/// The same bits for the same arguments on every machine and compiler.
/// @throws Refusal naming `family` and the families there are
Inputs make_inputs(std::string_view family, ElementType type, int seq_len, int head_dim,
                   std::uint64_t seed);

/// Refuses values on which FP32 arithmetic could overflow, and those that are not numbers:
/// NaN or infinity in q, k or v, `D max|q| max|k|` (a score before it is scaled) or `N max|v|` above
/// FLT_MAX.
/// Conservative: some inputs that it refuses would come out right.
/// @throws Refusal naming the tensor, the index and the value
void require_finite(const Inputs& inputs);

}  // namespace workshop
