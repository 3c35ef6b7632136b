// SPDX-License-Identifier: MIT
/// @file
/// CUDA's keywords, built-in variables and functions, for a compiler that does not know them. What
/// they do is CUDA's (CUDA C++ Programming Guide); here stands only what the CPU device adds.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/device/cpu/cuda_types.hpp"
#include "common/device/cpu/runtime.hpp"
#include "common/device/cpu/warp_operations.hpp"

// __noinline__ stays undefined: libstdc++ uses the word itself.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

// Variables, not macros: `print threadIdx` works in gdb. (constinit: no guard at each access.)
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = simt::cpu::kWarpSize;

using std::max;
using std::min;

inline void __syncthreads(simt::cpu::Site site = simt::cpu::Site::here()) {
  simt::cpu::block_barrier(site);
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       simt::cpu::Site site = simt::cpu::Site::here()) {
  simt::cpu::warp_barrier(mask, site);
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize,
              simt::cpu::Site site = simt::cpu::Site::here()) {
  return simt::cpu::shuffle(simt::cpu::ShuffleMode::from_lane, mask, value, source_lane, width,
                            site);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 simt::cpu::Site site = simt::cpu::Site::here()) {
  return simt::cpu::shuffle(simt::cpu::ShuffleMode::up, mask, value, int(delta), width, site);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   simt::cpu::Site site = simt::cpu::Site::here()) {
  return simt::cpu::shuffle(simt::cpu::ShuffleMode::down, mask, value, int(delta), width, site);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  simt::cpu::Site site = simt::cpu::Site::here()) {
  return simt::cpu::shuffle(simt::cpu::ShuffleMode::exchange, mask, value, lane_mask, width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              simt::cpu::Site site = simt::cpu::Site::here()) {
  return simt::cpu::vote(simt::cpu::VoteMode::ballot, mask, predicate != 0, site);
}

inline int __any_sync(unsigned mask, int predicate,
                      simt::cpu::Site site = simt::cpu::Site::here()) {
  return int(simt::cpu::vote(simt::cpu::VoteMode::any, mask, predicate != 0, site));
}

inline int __all_sync(unsigned mask, int predicate,
                      simt::cpu::Site site = simt::cpu::Site::here()) {
  return int(simt::cpu::vote(simt::cpu::VoteMode::all, mask, predicate != 0, site));
}

/// Lets the other threads of the block run, which is what a spinning thread waits for.
inline void __nanosleep(unsigned) { simt::cpu::yield(); }
