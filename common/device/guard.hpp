// SPDX-License-Identifier: MIT
/// @file
/// The guard words that every buffer has on both sides, alike on every device.
///
/// 0xfffe is NaN in FP16 and in BF16, so a kernel that reads outside an array computes NaN, and one
/// that writes there changes the word: neither poison (0xffff) nor a NaN of our own (0x7fff) is it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simt {

/// On each side: 64 rows of 64 elements, the most that a block owns or a tile has, so that a block that
/// goes past the end of a ragged tensor meets guard words and nothing else.
inline constexpr std::size_t kGuardBytes = 8192;

inline constexpr auto kGuard = [] {
  std::array<std::uint16_t, kGuardBytes / sizeof(std::uint16_t)> words{};
  words.fill(0xfffe);
  return words;
}();

}  // namespace simt
