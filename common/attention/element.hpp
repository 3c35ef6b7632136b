// SPDX-License-Identifier: MIT
/// @file
/// The two 16-bit types of the inputs: how they are stored, widened and rounded to.
///
///     | type | sign | exponent | fraction | unit roundoff u | largest finite | smallest normal |
///     |------|------|----------|----------|-----------------|----------------|-----------------|
///     | FP16 |   1  |     5    |    10    | 2^-11           | 65504          | 2^-14           |
///     | BF16 |   1  |     8    |     7    | 2^-8            | about 3.39e38  | 2^-126          |
///
/// Integer code of our own, so that host, CPU device and tests agree bit for bit on every compiler;
/// on a GPU, simt.hpp takes the hardware's conversions, which round alike (to nearest, ties to even).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace workshop {

/// The type of the elements of Q, K, V and O.
enum class ElementType { fp16, bf16 };

/// IEEE 754 binary16, as stored.
struct Half {
  std::uint16_t bits;
};

/// The upper half of an IEEE 754 binary32, as stored.
struct BFloat16 {
  std::uint16_t bits;
};

/// Exact; a NaN stays a NaN. Without branches, so that compilers can make vectors of a loop of them;
/// and without arithmetic on FP32 subnormals, which processors do 30 times slower.
inline float to_float(Half half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = half.bits & 0x7fffu;
  const std::uint32_t subnormal = 0u - std::uint32_t(magnitude < 0x0400u);  // all bits, or none
  const std::uint32_t infinite = 0u - std::uint32_t(magnitude >= 0x7c00u);  // or NaN
  // The exponent's bias goes from 15 to 127, the largest exponent from 31 to 255. A subnormal has
  // exponent 1 and no leading one: it gets one, worth 2^-14, which is taken off again.
  constexpr std::uint32_t kRebias = (127u - 15u) << 23;
  constexpr std::uint32_t kOne = 1u << 23;
  const std::uint32_t bias = kRebias + (infinite & kRebias) + (subnormal & kOne);
  const float leading_one = std::bit_cast<float>(subnormal & (kRebias + kOne));
  const float wide = std::bit_cast<float>((magnitude << 13) + bias) - leading_one;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(wide));
}

/// Exact; a NaN stays a NaN.
inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(std::uint32_t(value.bits) << 16);
}

/// To nearest, ties to even; from 65520 on to infinity; a NaN to the canonical NaN 0x7fff.
inline Half to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7fff};
  if (magnitude >= 0x477ff000u) return {std::uint16_t(sign | 0x7c00u)};
  if (magnitude >=
      0x38800000u) {  // normal: rebias, then add just under half a unit, or half if odd
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    return {std::uint16_t(sign | ((magnitude - ((127u - 15u) << 23) + 0xfffu + odd) >> 13))};
  }
  // Subnormal: 0.5 has 2^-24 as its last place, so adding it makes the FPU round there.
  const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
  return {std::uint16_t(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000u))};
}

/// To nearest, ties to even; a NaN to the canonical NaN 0x7fff.
inline BFloat16 to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// `to_half` or `to_bfloat16`, by type.
template <typename Element>
Element from_float(float value);
template <>
inline Half from_float<Half>(float value) {
  return to_half(value);
}
template <>
inline BFloat16 from_float<BFloat16>(float value) {
  return to_bfloat16(value);
}

/// Widens one stored element of a type known at run time.
inline float to_float(ElementType type, std::uint16_t bits) {
  return type == ElementType::fp16 ? to_float(Half{bits}) : to_float(BFloat16{bits});
}

/// Rounds to a type known at run time; returns the stored bits.
inline std::uint16_t round_to(ElementType type, float value) {
  return type == ElementType::fp16 ? to_half(value).bits : to_bfloat16(value).bits;
}

/// u: the largest relative error of one rounding of a normal number.
constexpr double unit_roundoff(ElementType type) {
  return type == ElementType::fp16 ? 0x1p-11 : 0x1p-8;
}

/// The name on command lines and in results: "fp16" or "bf16".
constexpr std::string_view name_of(ElementType type) {
  return type == ElementType::fp16 ? "fp16" : "bf16";
}

}  // namespace workshop
