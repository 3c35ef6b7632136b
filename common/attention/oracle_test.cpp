// SPDX-License-Identifier: MIT
/// @file
/// The oracle against cases worked by hand, and against FP64 references made by another program.

#include "common/attention/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/attention/inputs.hpp"
#include "common/attention/safetensors.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;

namespace {

Matrix<double> matrix_of(std::initializer_list<std::vector<double>> rows) {
  Matrix<double> matrix(int(rows.size()), int(rows.begin()->size()));
  int index = 0;
  for (const auto& row : rows) std::ranges::copy(row, matrix.row(index++).begin());
  return matrix;
}

/// One query whose scores are `logits`: D = 1, where sqrt(D) = 1.
Matrix<double> mean_by_logits(const std::vector<double>& logits, const Matrix<double>& values) {
  Matrix<double> k(int(logits.size()), 1);
  k.values = logits;
  return attention_oracle(matrix_of({{1}}), k, values, Mask::none);
}

}  // namespace

TEST_CASE("A single key gives its value exactly, whatever the score") {
  for (const double score : {0.0, 1.0, -700.0, 1e6}) {
    CHECK(mean_by_logits({score}, matrix_of({{0.3, -7}})) == matrix_of({{0.3, -7}}));
  }
}

TEST_CASE("Equal scores give the mean of the values") {
  const auto o = mean_by_logits({5, 5, 5, 5}, matrix_of({{1, 0}, {2, 0}, {4, 0}, {9, 2}}));
  CHECK(o == matrix_of({{4, 0.5}}));
}

TEST_CASE("Logits 0, 0, log 2 weigh 1, 3, 10 by 1/4, 1/4, 1/2: 6") {
  const auto o = mean_by_logits({0, 0, std::log(2.0)}, matrix_of({{1}, {3}, {10}}));
  CHECK(std::abs(o(0, 0) - 6) < 1e-14);
}

TEST_CASE("D = 4 divides the dot product by 2") {
  // Dot products 4 log 3 and 0, scores 2 log 3 and 0: weights 9/10 and 1/10.
  const double root = std::sqrt(std::log(3.0));
  const auto q = matrix_of({{root, root, root, root}});
  const auto k = matrix_of({{root, root, root, root}, {root, -root, root, -root}});
  const auto weights = attention_weights(q, k, 0, Mask::none);
  CHECK(std::abs(weights[0] - 0.9) < 1e-15);
  CHECK(std::abs(weights[1] - 0.1) < 1e-15);
  const auto o = attention_oracle(q, k, matrix_of({{10, 0, 1, -1}, {0, 10, 1, 1}}), Mask::none);
  CHECK(largest_difference(o, matrix_of({{9, 1, 1, -0.8}})) < 1e-14);
}

TEST_CASE("A causal row averages the keys up to its own, the diagonal included") {
  const Matrix<double> zero(4, 2);
  const auto v = matrix_of({{1, 0}, {3, 0}, {8, 3}, {-12, 1}});
  CHECK(attention_oracle(zero, zero, v, Mask::causal) ==
        matrix_of({{1, 0}, {2, 0}, {4, 1}, {0, 1}}));
  CHECK(attention_weights(zero, zero, 1, Mask::causal) == std::vector<double>{0.5, 0.5, 0, 0});
}

TEST_CASE("Causal weights with unequal scores, by hand") {
  // D = 1; row i scores key j by q_i k_j = log of 1, 2, 4 to the power i.
  const auto q = matrix_of({{0}, {1}, {2}});
  const auto k = matrix_of({{0}, {std::log(2.0)}, {std::log(4.0)}});
  const auto v = matrix_of({{21}, {42}, {0}});
  const auto o = attention_oracle(q, k, v, Mask::causal);
  CHECK(o(0, 0) == 21);
  CHECK(std::abs(o(1, 0) - 35) < 1e-13);  // 1/3, 2/3
  CHECK(std::abs(o(2, 0) - 9) < 1e-13);   // 1/21, 4/21, 16/21
}

TEST_CASE("Large scores neither overflow nor vanish, and a shift of all changes nothing") {
  const auto v = matrix_of({{1}, {3}, {10}});
  for (const double shift : {700.0, -700.0, 1e6, -1e6}) {
    const auto o = mean_by_logits({shift, shift, shift + std::log(2.0)}, v);
    CHECK(std::abs(o(0, 0) - 6) < 1e-8);
  }
}

TEST_CASE(
    "Without a mask queries and keys may differ in number, and shapes that do not fit throw") {
  const Matrix<double> q(2, 4), k(8, 4), v(8, 3, 1.5);
  CHECK(attention_oracle(q, k, v, Mask::none) == Matrix<double>(2, 3, 1.5));
  CHECK_THROWS_AS(attention_oracle(q, k, v, Mask::causal), std::invalid_argument);
  CHECK_THROWS_AS(attention_oracle(q, k, q, Mask::none), std::invalid_argument);
  CHECK_THROWS_AS(attention_oracle(q, v, v, Mask::none), std::invalid_argument);
}

TEST_CASE("On real heads the oracle agrees with FP64 references made by another program") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WORKSHOP_DATA_DIR)) {
    if (entry.path().extension() != ".safetensors") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const StoredTensors tensors = read_safetensors(entry.path());
    const Inputs inputs = inputs_from(tensors, name);
    const auto q = widen(inputs.type, inputs.q);
    const auto k = widen(inputs.type, inputs.k);
    const auto v = widen(inputs.type, inputs.v);
    const auto full = numbers_from(tensors, "o_full_f64", name);
    const auto causal = numbers_from(tensors, "o_causal_f64", name);
    CHECK(largest_difference(attention_oracle(q, k, v, Mask::none), full) < 1e-12);
    CHECK(largest_difference(attention_oracle(q, k, v, Mask::causal), causal) < 1e-12);
  }
  CHECK(files >= 4);
}
