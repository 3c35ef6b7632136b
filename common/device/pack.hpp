// SPDX-License-Identifier: MIT
/// @file
/// Two 16-bit elements in a 32-bit register. Included by both sides of simt.hpp.
#pragma once

namespace simt {

/// `lo` in the lower half, `hi` in the upper.
template <typename Element>
__device__ __forceinline__ unsigned pack(Element lo, Element hi) {
  static_assert(sizeof(Element) == 2, "from float, pack<Half>(lo, hi) or pack<BFloat16>(lo, hi)");
  return lo.bits | unsigned(hi.bits) << 16;
}

}  // namespace simt
