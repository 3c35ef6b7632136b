// SPDX-License-Identifier: MIT
/// @file
/// Barrier, shuffles, votes and reductions of a warp: what CUDA's functions of these names are made
/// of (cuda_names.hpp), each one warp_collective.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {

void warp_barrier(unsigned mask, Site site);

enum class ShuffleMode { from_lane, up, down, exchange };
enum class VoteMode { ballot, any, all };
enum class ReduceMode { max, sum };

/// A shuffle of up to eight bytes. `operand` is the lane, the distance or the lane mask.
/// @throws KernelFault if `width` is no power of two up to 32, or the lane read takes no part
std::uint64_t shuffle_bits(ShuffleMode mode, unsigned mask, std::uint64_t bits, int operand,
                           int width, Site site);

template <typename T>
T shuffle(ShuffleMode mode, unsigned mask, T value, int operand, int width, Site site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "CUDA shuffles 4 or 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = shuffle_bits(mode, mask, bits, operand, width, site);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

unsigned vote(VoteMode mode, unsigned mask, bool predicate, Site site);

/// The butterfly of common/device/reduce.hpp over groups of `lanes`, bit for bit, in one step. Counts
/// as its log2(lanes) shuffles. All lanes of the warp take part.
/// @throws KernelFault if a lane of the group takes no part
float reduce(ReduceMode mode, int lanes, float value, Site site);

}  // namespace simt::cpu
