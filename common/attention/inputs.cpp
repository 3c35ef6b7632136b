// SPDX-License-Identifier: MIT
/// @file
/// Rounding numbers to stored inputs, and refusing inputs on which FP32 could overflow.

#include "common/attention/inputs.hpp"

#include <bit>
#include <cfloat>
#include <cmath>

#include <fmt/format.h>

#include "common/attention/problem.hpp"

namespace workshop {
namespace {

/// To FP32 by "round to odd": what does not fit sets the last bit. A second rounding, to 16 bits,
/// then comes out as if it had been the only one; two roundings to nearest may not.
float narrow_to_odd(double number) {
  const float nearest = float(number);
  if (double(nearest) == number || std::isnan(number)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(double(nearest)) > std::abs(number)) --bits;  // towards 0
  return std::bit_cast<float>(bits | 1u);
}

/// An element by its place, to be named in a refusal.
struct Element {
  std::string_view tensor;
  int row, col;
  float value;
};

std::string to_string(const Element& element) {
  if (std::isnan(element.value)) {  // its sign says nothing
    return fmt::format("{}[{}][{}] = nan", element.tensor, element.row, element.col);
  }
  return fmt::format("{}[{}][{}] = {:.6g}", element.tensor, element.row, element.col,
                     element.value);
}

/// The element of largest magnitude.
/// @throws Refusal naming the first that is no finite number
Element largest(std::string_view name, ElementType type, const Matrix<std::uint16_t>& tensor) {
  Element found{name, 0, 0, 0};
  for (int row = 0; row < tensor.rows; ++row) {
    for (int col = 0; col < tensor.cols; ++col) {
      const Element element{name, row, col, to_float(type, tensor(row, col))};
      if (!std::isfinite(element.value)) {
        throw Refusal(to_string(element) + ": only finite numbers are taken");
      }
      if (std::abs(element.value) > std::abs(found.value)) found = element;
    }
  }
  return found;
}

}  // namespace

Matrix<std::uint16_t> round_matrix(ElementType type, const Matrix<double>& numbers) {
  Matrix<std::uint16_t> stored(numbers.rows, numbers.cols);
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    stored.values[i] = round_to(type, narrow_to_odd(numbers.values[i]));
  }
  return stored;
}

void require_finite(const Inputs& inputs) {
  const Element q = largest("q", inputs.type, inputs.q);
  const Element k = largest("k", inputs.type, inputs.k);
  const Element v = largest("v", inputs.type, inputs.v);
  const double score = inputs.head_dim() * std::abs(double(q.value) * k.value);
  if (score > FLT_MAX) {
    throw Refusal(fmt::format(
        "{} and {}: D max|q| max|k| = {:.3g}, where a score may overflow FP32 (at most {:.3g})",
        to_string(q), to_string(k), score, FLT_MAX));
  }
  const double sum = inputs.seq_len() * std::abs(double(v.value));
  if (sum > FLT_MAX) {
    throw Refusal(
        fmt::format("{}: N max|v| = {:.3g}, where a sum may overflow FP32 (at most {:.3g})",
                    to_string(v), sum, FLT_MAX));
  }
}

}  // namespace workshop
