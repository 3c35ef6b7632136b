// SPDX-License-Identifier: MIT
/// @file
/// The bound, from the oracle's weights, and the comparison that uses it. Each constant is derived in
/// docs/design/002-error-bound.md.

#include "common/attention/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/attention/oracle.hpp"

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "fast-math removes the tests for NaN: a wrong kernel would pass"
#endif

namespace workshop {
namespace {

constexpr double kRoundings = 1.25;             // of u A: p and O rounded, and FP32 sums
constexpr double kScoreRounding = 0x1p-21;      // of sum |q k| / sqrt(D): FP32 scores
constexpr double kAbsolute = 1e-6;              // where A is next to nothing
constexpr double kSubnormalRounding = 0x1p-25;  // of one p below 2^-14 in FP16
constexpr int kQueryBlock = 16;                 // rows a program owns, to say where errors lie

double norm_factor(ElementType type) { return type == ElementType::fp16 ? 5e-4 : 4e-3; }

/// F: the part of a bound that does not shrink with A.
double absolute_part(ElementType type, const Matrix<double>& v) {
  if (type != ElementType::fp16) return kAbsolute;
  double max_v = 0;
  for (const double value : v.values) max_v = std::max(max_v, std::abs(value));
  return kAbsolute + v.rows * kSubnormalRounding * max_v;
}

/// E_i: how far rounding in FP32 may move a score that row i sees.
double score_error(const Matrix<double>& q, const Matrix<double>& k, int q_row,
                   const std::vector<double>& weights) {
  double largest = 0;
  for (int key = 0; key < k.rows; ++key) {
    if (weights[key] == 0) continue;  // masked, or too small to matter
    double sum = 0;
    for (int col = 0; col < q.cols; ++col) sum += std::abs(q(q_row, col) * k(key, col));
    largest = std::max(largest, sum);
  }
  return kScoreRounding / std::sqrt(double(q.cols)) * largest;
}

struct WeightedSum {
  double o;     // sum_j P_ij v_j
  double size;  // A = |o| + sum_j P_ij |v_j|
};

WeightedSum weighted_sum(const std::vector<double>& weights, const Matrix<double>& v, int col) {
  double sum = 0;
  double sum_of_sizes = 0;
  for (int key = 0; key < v.rows; ++key) {
    const double share = weights[key] * v(key, col);
    sum += share;
    sum_of_sizes += std::abs(share);
  }
  return {sum, std::abs(sum) + sum_of_sizes};
}

/// Calls `work(row)` for every row, on all cores if there are many rows: none looks at another.
template <typename Work>
void for_all_rows(int rows, const Work& work) {
  constexpr int kFewRows = 256;
  const int cores = int(std::thread::hardware_concurrency());
  const int workers = rows > kFewRows ? std::max(cores, 1) : 1;
  const auto policy = workers > 1 ? std::launch::async : std::launch::deferred;
  std::vector<std::future<void>> shares;
  for (int worker = 0; worker < workers; ++worker) {
    shares.push_back(std::async(policy, [=, &work] {
      for (int row = worker; row < rows; row += workers) work(row);
    }));
  }
  for (std::future<void>& share : shares) share.get();
}

/// error / bound, where 0 / 0 is 0, and whatever is no finite number is infinitely far off.
double share_of(double error, double bound) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(error < kInfinity) || !(bound < kInfinity)) return kInfinity;  // a NaN compares false
  return error == 0 ? 0 : error / bound;
}

/// "row 3", or "rows 3..5".
std::string range(std::string_view what, int first, int last) {
  return first == last ? fmt::format("{} {}", what, first)
                       : fmt::format("{}s {}..{}", what, first, last);
}

/// "o[17][3] = 0.1, expected 0.1234 +- 0.0003"
std::string worst_element(const Comparison& comparison) {
  const double value = comparison.value;
  return fmt::format("o[{}][{}] = {:.6g}, expected {:.6g} +- {:.2g}", comparison.worst_row,
                     comparison.worst_col, std::isnan(value) ? std::abs(value) : value,
                     comparison.expected, comparison.bound);
}

/// The box that holds the wrong elements, and the query blocks it touches.
std::string wrong_elements(const Comparison& comparison) {
  const int first = comparison.first_wrong_row, last = comparison.last_wrong_row;
  return fmt::format("{} of {} elements {} wrong: {}, {}\n({} of {} rows)", comparison.wrong,
                     std::size_t(comparison.rows) * comparison.cols,
                     comparison.wrong == 1 ? "is" : "are", range("row", first, last),
                     range("column", comparison.first_wrong_col, comparison.last_wrong_col),
                     range("query block", first / kQueryBlock, last / kQueryBlock), kQueryBlock);
}

void note_wrong(Comparison& result, int row, int col) {
  if (result.wrong == 0) {
    result.first_wrong_row = row;
    result.first_wrong_col = result.last_wrong_col = col;
  }
  ++result.wrong;
  result.last_wrong_row = row;
  result.first_wrong_col = std::min(result.first_wrong_col, col);
  result.last_wrong_col = std::max(result.last_wrong_col, col);
}

}  // namespace

Expectation expect(const Inputs& inputs, Mask mask) {
  const Matrix<double> q = widen(inputs.type, inputs.q);
  const Matrix<double> k = widen(inputs.type, inputs.k);
  const Matrix<double> v = widen(inputs.type, inputs.v);
  const double roundings = kRoundings * unit_roundoff(inputs.type);
  const double absolute = absolute_part(inputs.type, v);

  Expectation result{Matrix<double>(q.rows, q.cols), Matrix<double>(q.rows, q.cols)};
  std::vector<double> errors(q.rows);           // E_i
  std::vector<double> sums_of_squares(q.rows);  // of A_i
  for_all_rows(q.rows, [&](int row) {
    const std::vector<double> weights = attention_weights(q, k, row, mask);
    errors[row] = score_error(q, k, row, weights);
    for (int col = 0; col < q.cols; ++col) {
      const auto [o, size] = weighted_sum(weights, v, col);
      sums_of_squares[row] += size * size;
      result.o(row, col) = o;
      result.bound(row, col) = (roundings + errors[row]) * size + absolute;
    }
  });
  const double largest_error = *std::ranges::max_element(errors);
  const double sum_of_squares =
      std::accumulate(sums_of_squares.begin(), sums_of_squares.end(), 0.0);
  result.norm_bound = (norm_factor(inputs.type) + largest_error) * std::sqrt(sum_of_squares) +
                      absolute * std::sqrt(double(q.rows) * q.cols);
  return result;
}

Comparison compare(const Matrix<double>& o, const Expectation& expectation) {
  const Matrix<double>& expected = expectation.o;
  if (o.rows != expected.rows || o.cols != expected.cols || o.values.empty()) {
    throw std::invalid_argument(fmt::format("o is [{}][{}], expected [{}][{}], not empty", o.rows,
                                            o.cols, expected.rows, expected.cols));
  }
  Comparison result{.rows = o.rows, .cols = o.cols, .worst_share = -1};
  double sum_of_squares = 0;
  for (int row = 0; row < o.rows; ++row) {
    for (int col = 0; col < o.cols; ++col) {
      const double error = std::abs(o(row, col) - expected(row, col));
      const double share = share_of(error, expectation.bound(row, col));
      sum_of_squares += error * error;
      if (share > result.worst_share) {
        result.worst_share = share;
        result.worst_row = row;
        result.worst_col = col;
      }
      if (share > 1) note_wrong(result, row, col);
    }
  }
  result.value = o(result.worst_row, result.worst_col);
  result.expected = expected(result.worst_row, result.worst_col);
  result.bound = expectation.bound(result.worst_row, result.worst_col);
  result.norm_share = share_of(std::sqrt(sum_of_squares), expectation.norm_bound);
  result.passed = result.wrong == 0 && result.norm_share <= 1;
  return result;
}

std::string describe(const Comparison& comparison) {
  if (comparison.passed) {
    return fmt::format("worst error {:.2f} of its bound: {}", comparison.worst_share,
                       worst_element(comparison));
  }
  if (comparison.wrong == 0) {
    return fmt::format(
        "every element is within its bound, but all errors together are not:\n"
        "their norm is {:.2f} of its bound\nworst error {:.2f} of its bound: {}",
        comparison.norm_share, comparison.worst_share, worst_element(comparison));
  }
  return worst_element(comparison) + "\n" + wrong_elements(comparison);
}

}  // namespace workshop
