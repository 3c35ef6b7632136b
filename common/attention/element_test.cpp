// SPDX-License-Identifier: MIT
/// @file
/// The 16-bit types against formulas of their own: every pattern, every tie, a sweep of all floats.

#include "common/attention/element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

constexpr int kPatterns = 1 << 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The numbers that describe a type, apart from the code under test.
struct Format {
  ElementType type;
  int fraction_bits;
  int min_exponent;  // of the smallest normal number
  std::uint16_t infinity;
};

constexpr Format kFormats[] = {{ElementType::fp16, 10, -14, 0x7c00},
                               {ElementType::bf16, 7, -126, 0x7f80}};

/// (-1)^sign * significand * 2^exponent, as IEEE 754 defines it, for finite patterns. The pattern of
/// infinity gives the number that would come after the largest finite one.
double value_of(const Format& format, std::uint16_t bits) {
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int biased = (bits & 0x7fff) >> format.fraction_bits;
  const int significand = biased == 0 ? fraction : fraction + (1 << format.fraction_bits);
  const int exponent = format.min_exponent + std::max(biased, 1) - 1 - format.fraction_bits;
  return std::ldexp(bits & 0x8000 ? -significand : significand, exponent);
}

bool is_nan(const Format& format, std::uint16_t bits) { return (bits & 0x7fff) > format.infinity; }

/// Rounds by scaling to an integer: nearest, ties to even.
double rounded(const Format& format, float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent) - format.fraction_bits;
  return std::ldexp(std::nearbyint(std::ldexp(double(value), -exponent)), exponent);
}

}  // namespace

TEST_CASE("Every 16-bit pattern widens to the value that IEEE 754 gives it") {
  for (const Format& format : kFormats) {
    std::vector<int> wrong;
    for (int bits = 0; bits < kPatterns; ++bits) {
      const float widened = to_float(format.type, std::uint16_t(bits));
      const bool negative = bits & 0x8000;
      bool right = std::signbit(widened) == negative;
      if (is_nan(format, bits)) {
        right = std::isnan(widened);
      } else if ((bits & 0x7fff) == format.infinity) {
        right = right && widened == (negative ? -kInfinity : kInfinity);
      } else {
        right = right && double(widened) == value_of(format, bits);
      }
      if (!right) wrong.push_back(bits);
    }
    CAPTURE(name_of(format.type));
    CHECK(wrong == std::vector<int>{});
  }
}

TEST_CASE("Every 16-bit pattern comes back from FP32 as it was, and NaN as NaN") {
  for (const Format& format : kFormats) {
    std::vector<int> wrong;
    for (int bits = 0; bits < kPatterns; ++bits) {
      const std::uint16_t back = round_to(format.type, to_float(format.type, std::uint16_t(bits)));
      if (is_nan(format, bits) ? !is_nan(format, back) : back != bits) wrong.push_back(bits);
    }
    CAPTURE(name_of(format.type));
    CHECK(wrong == std::vector<int>{});
  }
}

TEST_CASE("Every tie goes to the even neighbour, one float beside it to the nearer one") {
  for (const Format& format : kFormats) {
    std::vector<int> wrong;
    for (int bits = 0; bits < kPatterns; ++bits) {
      if ((bits & 0x7fff) >= format.infinity) continue;
      const std::uint16_t below = bits, above = bits + 1;  // in magnitude; above may be infinity
      const float tie = float((value_of(format, below) + value_of(format, above)) / 2);
      const std::uint16_t even = bits % 2 == 0 ? below : above;
      const float towards_zero = std::nextafter(tie, 0.0f);
      const float away = std::nextafter(tie, tie < 0 ? -kInfinity : kInfinity);
      if (round_to(format.type, tie) != even || round_to(format.type, towards_zero) != below ||
          round_to(format.type, away) != above) {
        wrong.push_back(bits);
      }
    }
    CAPTURE(name_of(format.type));
    CHECK(wrong == std::vector<int>{});
  }
}

TEST_CASE("A sweep of all floats rounds as an integer rounding of the scaled number does") {
  for (const Format& format : kFormats) {
    std::vector<std::uint32_t> wrong;
    for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 4099) {
      const float value = std::bit_cast<float>(std::uint32_t(bits));
      const float got = to_float(format.type, round_to(format.type, value));
      double expected = rounded(format, value);
      if (std::abs(expected) >= value_of(format, format.infinity)) expected *= kInfinity;
      const bool same = std::isnan(value)
                            ? std::isnan(got)
                            : got == expected && std::signbit(got) == std::signbit(value);
      if (!same) wrong.push_back(std::uint32_t(bits));
    }
    CAPTURE(name_of(format.type));
    CHECK(wrong == std::vector<std::uint32_t>{});
  }
}

TEST_CASE("FP16 overflows from 65520 on, its subnormals end at 2^-24, zeros keep their sign") {
  CHECK(to_half(65504).bits == 0x7bff);
  CHECK(to_half(65519.996f).bits == 0x7bff);
  CHECK(to_half(65520).bits == 0x7c00);
  CHECK(to_half(-65520).bits == 0xfc00);
  CHECK(to_half(0x1p-14f).bits == 0x0400);
  CHECK(to_half(0x1.ff8p-15f).bits == 0x03ff);
  CHECK(to_half(0x1.ffcp-15f).bits == 0x0400);
  CHECK(to_half(0x1p-24f).bits == 0x0001);
  CHECK(to_half(0x1p-25f).bits == 0x0000);
  CHECK(to_half(0x1.000002p-25f).bits == 0x0001);
  CHECK(to_half(0.0f).bits == 0x0000);
  CHECK(to_half(-0.0f).bits == 0x8000);
  CHECK(to_half(-0x1p-30f).bits == 0x8000);
  CHECK(to_half(kInfinity).bits == 0x7c00);
  CHECK(to_half(-kInfinity).bits == 0xfc00);
}

TEST_CASE("BF16 rounds where truncation would be wrong, and overflows by rounding") {
  CHECK(to_float(to_bfloat16(0.2691408770292272f)) == 0.26953125f);
  CHECK(to_float(to_bfloat16(3.14f)) == 3.140625f);
  CHECK(to_bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(to_bfloat16(std::bit_cast<float>(0x7f7f7fffu)).bits == 0x7f7f);
  CHECK(to_bfloat16(std::bit_cast<float>(0x7f7f8000u)).bits == 0x7f80);
  CHECK(to_bfloat16(std::bit_cast<float>(0x00008000u)).bits == 0x0000);
  CHECK(to_bfloat16(std::bit_cast<float>(0x00008001u)).bits == 0x0001);
  CHECK(to_bfloat16(-0.0f).bits == 0x8000);
}

TEST_CASE("A NaN whose payload lies in the low bits alone stays NaN, and does not turn infinite") {
  for (const std::uint32_t bits :
       {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fc00000u}) {
    const float nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(to_float(to_half(nan))));
    CHECK(std::isnan(to_float(to_bfloat16(nan))));
  }
}

TEST_CASE("The type known at run time and the one known at compile time agree") {
  CHECK(round_to(ElementType::fp16, 0.1f) == from_float<Half>(0.1f).bits);
  CHECK(round_to(ElementType::bf16, 0.1f) == from_float<BFloat16>(0.1f).bits);
  CHECK(name_of(ElementType::fp16) == "fp16");
  CHECK(name_of(ElementType::bf16) == "bf16");
}

TEST_CASE("The unit roundoff is reached at a tie just above 1, and never passed") {
  for (const Format& format : kFormats) {
    const double u = unit_roundoff(format.type);
    const float tie = float(1 + u);
    CHECK(std::abs(to_float(format.type, round_to(format.type, tie)) - tie) == u);
    CHECK(u == std::ldexp(1.0, -format.fraction_bits - 1));
  }
}
