// SPDX-License-Identifier: MIT
/// @file
/// Reductions over the neighbouring lanes that share a row. One order of operations on every device,
/// a butterfly, after which every lane holds the result:
///
///     offset = Lanes / 2, ..., 2, 1:   x = op(x, x of lane ^ offset)
///
/// All lanes of the warp take part. Included by both sides of simt.hpp. The CPU device does the whole
/// butterfly at one meeting of the lanes (a third of the time for 8 lanes) and is tested against this.
#pragma once

namespace simt {

template <int Lanes>
inline constexpr bool kPowerOfTwoLanes = Lanes > 0 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0;

namespace by_shuffles {

template <int Lanes>
__device__ __forceinline__ float reduce_max(float x) {
  static_assert(kPowerOfTwoLanes<Lanes>, "a row has 1, 2, 4, ..., 32 lanes");
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
  }
  return x;
}

template <int Lanes>
__device__ __forceinline__ float reduce_sum(float x) {
  static_assert(kPowerOfTwoLanes<Lanes>, "a row has 1, 2, 4, ..., 32 lanes");
  for (int offset = Lanes / 2; offset > 0; offset /= 2) {
    x += __shfl_xor_sync(0xffffffffu, x, offset);
  }
  return x;
}

}  // namespace by_shuffles

#if defined(__CUDACC__)
using by_shuffles::reduce_max;
using by_shuffles::reduce_sum;
#endif

}  // namespace simt
