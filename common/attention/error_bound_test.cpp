// SPDX-License-Identifier: MIT
/// @file
/// The bound against numbers worked by hand, and the comparison against outputs that are wrong.

#include "common/attention/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/attention/oracle.hpp"
#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Inputs normal_inputs(ElementType type = ElementType::fp16) {
  return make_inputs("normal", type, 40, 16, 1);
}

/// Inputs of two keys, D = 16: all rows of q, k and v are constant.
Inputs constant_inputs(ElementType type, double q, std::pair<double, double> k,
                       std::pair<double, double> v) {
  const auto rows = [type](std::pair<double, double> values) {
    Matrix<double> matrix(2, 16, values.first);
    for (double& value : matrix.row(1)) value = values.second;
    return round_matrix(type, matrix);
  };
  return {type, rows({q, q}), rows(k), rows(v)};
}

/// The expected output with every element off by `shares` bounds, to either side in turn.
Matrix<double> off_by(const Expectation& expectation, double shares) {
  Matrix<double> o = expectation.o;
  for (std::size_t i = 0; i < o.values.size(); ++i) {
    o.values[i] += (i % 2 == 0 ? shares : -shares) * expectation.bound.values[i];
  }
  return o;
}

/// a = b but for rounding; false for NaN.
bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

int longest_line(const std::string& text) {
  int longest = 0, length = 0;
  for (const char letter : text) {
    length = letter == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace

TEST_CASE("The bound of a case worked by hand, in both types") {
  // q = 1; the scores are 16 * 1 / 4 = 4 and 0, so the weights are w and 1 - w.
  const double w = 1 / (1 + std::exp(-4.0));
  const double score_error = 0x1p-21 * 4;
  const double o = 3 * w - 2 * (1 - w);
  const double size = std::abs(o) + 3 * w + 2 * (1 - w);

  const auto half = expect(constant_inputs(ElementType::fp16, 1, {1, 0}, {3, -2}), Mask::none);
  const double half_floor = 1e-6 + 2 * 0x1p-25 * 3;
  CHECK(close(half.o(1, 5), o));
  CHECK(close(half.bound(1, 5), (1.25 / 2048 + score_error) * size + half_floor));
  CHECK(close(half.norm_bound,
              (5e-4 + score_error) * size * std::sqrt(32) + half_floor * std::sqrt(32)));

  const auto brain = expect(constant_inputs(ElementType::bf16, 1, {1, 0}, {3, -2}), Mask::none);
  CHECK(close(brain.bound(1, 5), (1.25 / 256 + score_error) * size + 1e-6));
  CHECK(
      close(brain.norm_bound, (4e-3 + score_error) * size * std::sqrt(32) + 1e-6 * std::sqrt(32)));
}

TEST_CASE("Many rows, which share the cores, are expected as the oracle has them") {
  for (const Mask mask : {Mask::none, Mask::causal}) {
    const Inputs inputs = make_inputs("normal", ElementType::fp16, 700, 16, 1);
    const Expectation expectation = expect(inputs, mask);
    const auto wide = [&](const Matrix<std::uint16_t>& bits) { return widen(inputs.type, bits); };
    const auto o = attention_oracle(wide(inputs.q), wide(inputs.k), wide(inputs.v), mask);
    CHECK(expectation.o == o);
    CHECK(std::ranges::all_of(expectation.bound.values, [](double bound) { return bound > 0; }));
    CHECK(expectation.norm_bound > 0);
  }
}

TEST_CASE("A large key that the causal mask hides widens no bound") {
  const Inputs inputs = constant_inputs(ElementType::bf16, 1, {1, 1000}, {3, 500});
  const auto causal = expect(inputs, Mask::causal);
  CHECK(causal.o(0, 0) == 3);
  CHECK(close(causal.bound(0, 0), (1.25 / 256 + 0x1p-21 * 4) * 6 + 1e-6));
  CHECK(close(causal.bound(1, 0), (1.25 / 256 + 0x1p-21 * 4000) * 1000 + 1e-6));
}

TEST_CASE("One large channel widens the bound by the rounding of its scores") {
  const Inputs inputs = make_inputs("large-channel", ElementType::fp16, 40, 16, 1);
  const auto expectation = expect(inputs, Mask::none);
  const auto q = widen(inputs.type, inputs.q);
  const auto k = widen(inputs.type, inputs.k);
  const auto v = widen(inputs.type, inputs.v);
  const int row = 7, col = 3;
  const auto weights = attention_weights(q, k, row, Mask::none);
  double largest_score = 0, max_v = 0, size = std::abs(expectation.o(row, col));
  for (int key = 0; key < 40; ++key) {
    double sum = 0;
    for (int d = 0; d < 16; ++d) sum += std::abs(q(row, d)) * std::abs(k(key, d));
    largest_score = std::max(largest_score, sum / 4);
    size += weights[key] * std::abs(v(key, col));
  }
  for (const double value : v.values) max_v = std::max(max_v, std::abs(value));
  CHECK(largest_score > 200 * 200 / 4);
  const double score_error = 0x1p-21 * largest_score;
  CHECK(score_error > 7 * 1.25 / 2048);  // far more than all the other roundings
  CHECK(close(expectation.bound(row, col),
              (1.25 / 2048 + score_error) * size + 1e-6 + 40 * 0x1p-25 * max_v));
}

TEST_CASE("The expected output itself passes, at no share of the bound") {
  const auto expectation = expect(normal_inputs(), Mask::causal);
  const Comparison comparison = compare(expectation.o, expectation);
  CHECK(comparison.passed);
  CHECK(comparison.worst_share == 0);
  CHECK(comparison.norm_share == 0);
  CHECK(comparison.wrong == 0);
}

TEST_CASE("Half a bound everywhere passes, and is reported as half") {
  const auto expectation = expect(normal_inputs(), Mask::none);
  const Comparison comparison = compare(off_by(expectation, 0.5), expectation);
  CHECK(comparison.passed);
  CHECK(std::abs(comparison.worst_share - 0.5) < 1e-9);
  CHECK_THAT(describe(comparison), ContainsSubstring("worst error 0.50 of its bound: o["));
  CHECK(longest_line(describe(comparison)) < 100);
}

TEST_CASE("One element off by three bounds fails and is named") {
  const auto expectation = expect(normal_inputs(), Mask::none);
  for (const double shares : {3.0, -3.0}) {
    Matrix<double> o = off_by(expectation, 0.5);
    o(17, 3) = expectation.o(17, 3) + shares * expectation.bound(17, 3);
    const Comparison comparison = compare(o, expectation);
    CHECK_FALSE(comparison.passed);
    CHECK(comparison.wrong == 1);
    CHECK(comparison.worst_row == 17);
    CHECK(comparison.worst_col == 3);
    CHECK(std::abs(comparison.worst_share - 3) < 1e-9);
    CHECK(comparison.value == o(17, 3));
    CHECK(comparison.expected == expectation.o(17, 3));
    CHECK(comparison.bound == expectation.bound(17, 3));
    CHECK_THAT(describe(comparison),
               ContainsSubstring("o[17][3] = ") &&
                   ContainsSubstring("1 of 640 elements is wrong: row 17, column 3") &&
                   ContainsSubstring("query block 1 of 16 rows"));
  }
}

TEST_CASE("NaN and infinity fail wherever they stand, infinitely far off") {
  const auto expectation = expect(normal_inputs(), Mask::none);
  for (const double value : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (const auto& [row, col] : {std::pair{0, 0}, {17, 3}, {39, 15}}) {
      Matrix<double> o = expectation.o;
      o(row, col) = value;
      const Comparison comparison = compare(o, expectation);
      CHECK_FALSE(comparison.passed);
      CHECK(comparison.worst_share == kInfinity);
      CHECK(comparison.norm_share == kInfinity);
      CHECK(comparison.worst_row == row);
      CHECK(comparison.worst_col == col);
      CHECK(comparison.wrong == 1);
    }
  }
}

TEST_CASE("An element that was never written fails in both types") {
  for (const auto type : {ElementType::fp16, ElementType::bf16}) {
    const auto expectation = expect(normal_inputs(type), Mask::none);
    Matrix<double> o = expectation.o;
    o(17, 3) = to_float(type, 0xffff);  // the poison under every output
    const Comparison comparison = compare(o, expectation);
    CHECK_FALSE(comparison.passed);
    CHECK_THAT(describe(comparison), ContainsSubstring("o[17][3] = nan, expected "));
  }
}

TEST_CASE("Where the wrong elements lie is told by rows, columns and query blocks") {
  const auto expectation = expect(make_inputs("normal", ElementType::fp16, 64, 32, 1), Mask::none);
  Matrix<double> o = expectation.o;
  for (int row = 32; row < 64; ++row) {
    for (int col = 2; col < 8; ++col) o(row, col) = kNan;
  }
  const Comparison comparison = compare(o, expectation);
  CHECK(comparison.wrong == 192);
  CHECK(comparison.first_wrong_row == 32);
  CHECK(comparison.last_wrong_row == 63);
  CHECK(comparison.first_wrong_col == 2);
  CHECK(comparison.last_wrong_col == 7);
  CHECK_THAT(describe(comparison),
             ContainsSubstring("192 of 2048 elements are wrong: rows 32..63, columns 2..7") &&
                 ContainsSubstring("query blocks 2..3 of 16 rows"));
  CHECK(longest_line(describe(comparison)) < 100);
}

TEST_CASE("Small errors everywhere pass each element, and fail by their norm") {
  for (const auto type : {ElementType::fp16, ElementType::bf16}) {
    const auto expectation = expect(normal_inputs(type), Mask::none);
    const Comparison comparison = compare(off_by(expectation, 0.95), expectation);
    CHECK(comparison.wrong == 0);
    CHECK(comparison.worst_share < 1);
    CHECK(comparison.norm_share > 1);
    CHECK_FALSE(comparison.passed);
    CHECK_THAT(describe(comparison), ContainsSubstring("every element is within its bound") &&
                                         ContainsSubstring("their norm is 1."));
    CHECK(longest_line(describe(comparison)) < 100);
  }
}

TEST_CASE(
    "Where nothing may be wrong and nothing is, 0 of 0 passes, and the least error does not") {
  Expectation expectation{Matrix<double>(2, 2), Matrix<double>(2, 2), 0};
  CHECK(compare(Matrix<double>(2, 2), expectation).passed);
  CHECK(compare(Matrix<double>(2, 2), expectation).norm_share == 0);
  Matrix<double> o(2, 2);
  o(1, 0) = 1e-300;
  CHECK_FALSE(compare(o, expectation).passed);
  CHECK(compare(o, expectation).worst_share == kInfinity);
}

TEST_CASE("An expectation that is no number passes nothing") {
  for (const double broken : {kNan, kInfinity}) {
    Expectation expectation = expect(normal_inputs(), Mask::none);
    expectation.o(4, 4) = broken;
    CHECK_FALSE(compare(expectation.o, expectation).passed);
    expectation = expect(normal_inputs(), Mask::none);
    expectation.bound(4, 4) = broken;
    CHECK_FALSE(compare(expectation.o, expectation).passed);
    expectation = expect(normal_inputs(), Mask::none);
    expectation.norm_bound = broken;
    CHECK_FALSE(compare(expectation.o, expectation).passed);
  }
}

TEST_CASE("Shapes that differ, and nothing at all, are not compared") {
  const auto expectation = expect(normal_inputs(), Mask::none);
  CHECK_THROWS_AS(compare(Matrix<double>(40, 15), expectation), std::invalid_argument);
  CHECK_THROWS_AS(compare(Matrix<double>(16, 40), expectation), std::invalid_argument);
  CHECK_THROWS_AS(compare(Matrix<double>(), Expectation{}), std::invalid_argument);
}
