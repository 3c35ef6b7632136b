// SPDX-License-Identifier: MIT
/// @file
/// Rounding to stored inputs, and the values that are refused before anything is uploaded.

#include "common/attention/inputs.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

float rounded(ElementType type, double value) {
  return to_float(type, round_matrix(type, Matrix<double>(1, 1, value))(0, 0));
}

Inputs ones(ElementType type, int seq_len, int head_dim) {
  const auto one = round_matrix(type, Matrix<double>(seq_len, head_dim, 1));
  return {type, one, one, one};
}

std::string refusal(const Inputs& inputs) {
  return refusal_of([&] { require_finite(inputs); });
}

}  // namespace

TEST_CASE("A double is rounded once: not to a float's tie first") {
  // 1 + u is the tie between 1 and its neighbour; a little more must go up, a little less down.
  for (const auto type : {ElementType::fp16, ElementType::bf16}) {
    const double u = unit_roundoff(type);
    for (const double sign : {1.0, -1.0}) {
      CHECK(rounded(type, sign * (1 + u)) == sign);
      CHECK(rounded(type, sign * (1 + u + 0x1p-50)) == float(sign * (1 + 2 * u)));
      CHECK(rounded(type, sign * (1 + u - 0x1p-50)) == sign);
      CHECK(rounded(type, sign * (1 + 3 * u - 0x1p-50)) == float(sign * (1 + 2 * u)));
      CHECK(rounded(type, sign * (1 + 3 * u)) == float(sign * (1 + 4 * u)));
    }
  }
  CHECK(rounded(ElementType::fp16, 65520 - 0x1p-30) == 65504);
  CHECK(rounded(ElementType::fp16, 65520) == float(kInfinity));
  CHECK(rounded(ElementType::fp16, 1e300) == float(kInfinity));
  CHECK(rounded(ElementType::fp16, 0x1p-25 + 0x1p-60) == 0x1p-24f);
  CHECK(rounded(ElementType::bf16, -1e300) == float(-kInfinity));
  CHECK(rounded(ElementType::bf16, 1e-300) == 0);
  CHECK(std::signbit(rounded(ElementType::bf16, -1e-300)));
  CHECK(std::isnan(rounded(ElementType::bf16, kNan)));
}

TEST_CASE("Rounding what is stored changes nothing, for every pattern that is a number") {
  for (const auto type : {ElementType::fp16, ElementType::bf16}) {
    Matrix<std::uint16_t> patterns(256, 256);
    for (int i = 0; i < 1 << 16; ++i) {
      const bool is_number = !std::isnan(to_float(type, std::uint16_t(i)));
      patterns.values[i] = is_number ? std::uint16_t(i) : 0;
    }
    CHECK(round_matrix(type, widen(type, patterns)) == patterns);
  }
}

TEST_CASE("NaN and infinity are refused by tensor, index and value") {
  for (const auto type : {ElementType::fp16, ElementType::bf16}) {
    Inputs inputs = ones(type, 17, 16);
    CHECK(refusal(inputs) == "not refused");
    inputs.v(16, 15) = round_to(type, float(-kInfinity));
    CHECK(refusal(inputs) == "v[16][15] = -inf: only finite numbers are taken");
    inputs.k(3, 0) = round_to(type, float(kInfinity));
    CHECK(refusal(inputs) == "k[3][0] = inf: only finite numbers are taken");
    inputs.q(5, 0) = round_to(type, float(kNan));
    CHECK(refusal(inputs) == "q[5][0] = nan: only finite numbers are taken");
    inputs.q(5, 0) = 0xffff;
    CHECK_THAT(refusal(inputs), ContainsSubstring("q[5][0] = nan"));
  }
}

TEST_CASE("A score that FP32 cannot hold before it is scaled is refused") {
  Inputs inputs = ones(ElementType::bf16, 4, 64);
  inputs.q(2, 1) = round_to(inputs.type, -0x1p61f);
  inputs.k(3, 63) = round_to(inputs.type, 0x1p60f);
  CHECK(refusal(inputs) == "not refused");  // 2^6 2^121 = 2^127
  inputs.k(3, 63) = round_to(inputs.type, 0x1p61f);
  CHECK(refusal(inputs) ==
        "q[2][1] = -2.30584e+18 and k[3][63] = 2.30584e+18: D max|q| max|k| = 3.4e+38, "
        "where a score may overflow FP32 (at most 3.4e+38)");
}

TEST_CASE("A sum of values that FP32 cannot hold is refused") {
  Inputs inputs = ones(ElementType::bf16, 64, 16);
  inputs.v(1, 2) = round_to(inputs.type, -0x1p121f);
  CHECK(refusal(inputs) == "not refused");
  inputs.v(1, 2) = round_to(inputs.type, -0x1p122f);
  CHECK_THAT(refusal(inputs), ContainsSubstring("v[1][2] = -5.31691e+36: N max|v| = 3.4e+38"));
}

TEST_CASE("FP16 cannot overflow FP32 at any size of the contract") {
  Inputs inputs = ones(ElementType::fp16, 2048, 64);
  for (auto* tensor : {&inputs.q, &inputs.k, &inputs.v}) (*tensor)(0, 0) = to_half(65504).bits;
  CHECK(refusal(inputs) == "not refused");
}
