// SPDX-License-Identifier: MIT
/// @file
/// The formula, line by line: scores, softmax, weighted mean.

#include "common/attention/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace workshop {

std::vector<double> attention_weights(const Matrix<double>& q, const Matrix<double>& k, int q_row,
                                      Mask mask) {
  if (q.cols != k.cols) throw std::invalid_argument("q and k have different head dimensions");
  if (mask == Mask::causal && q.rows != k.rows) {
    throw std::invalid_argument("a causal mask needs as many queries as keys");
  }
  const int visible = mask == Mask::causal ? q_row + 1 : k.rows;  // keys 0 to visible - 1
  const double root_d = std::sqrt(double(q.cols));

  std::vector<double> weights(k.rows, 0.0);
  const auto end = weights.begin() + visible;
  for (int key = 0; key < visible; ++key) {
    const auto query = q.row(q_row);
    const double dot = std::inner_product(query.begin(), query.end(), k.row(key).begin(), 0.0);
    weights[key] = dot / root_d;
  }
  // Softmax does not change when all scores are shifted; the largest becomes 0, so exp stays <= 1.
  const double max = *std::max_element(weights.begin(), end);
  std::for_each(weights.begin(), end, [max](double& score) { score = std::exp(score - max); });
  const double sum = std::accumulate(weights.begin(), end, 0.0);
  std::for_each(weights.begin(), end, [sum](double& weight) { weight /= sum; });
  return weights;
}

Matrix<double> attention_oracle(const Matrix<double>& q, const Matrix<double>& k,
                                const Matrix<double>& v, Mask mask) {
  if (k.rows != v.rows) throw std::invalid_argument("k and v have different lengths");
  Matrix<double> o(q.rows, v.cols);
  for (int q_row = 0; q_row < q.rows; ++q_row) {
    const std::vector<double> weights = attention_weights(q, k, q_row, mask);
    for (int col = 0; col < v.cols; ++col) {
      double sum = 0;
      for (int key = 0; key < k.rows; ++key) sum += weights[key] * v(key, col);
      o(q_row, col) = sum;
    }
  }
  return o;
}

}  // namespace workshop
