// SPDX-License-Identifier: MIT
/// @file
/// The numbers of Counts by name, and how a launch adds to what simt::cpu::counts() gives.
#pragma once

#include <iterator>
#include <string_view>

#include "common/device/cpu/cpu_device.hpp"

namespace simt::cpu {

/// One number of Counts.
struct NamedCount {
  std::string_view name;
  std::uint64_t Counts::*member;
};

inline constexpr NamedCount kCounts[] = {
    {"launches", &Counts::launches},
    {"blocks", &Counts::blocks},
    {"barriers", &Counts::block_barriers},
    {"warp barriers", &Counts::warp_barriers},
    {"shuffles", &Counts::shuffles},
    {"votes", &Counts::votes},
    {"mma", &Counts::mma},
    {"ldmatrix", &Counts::ldmatrix},
    {"ldmatrix conflicts", &Counts::ldmatrix_conflicts},
    {"async copies", &Counts::async_copies},
};
static_assert(sizeof(Counts) == std::size(kCounts) * sizeof(std::uint64_t),
              "every number of Counts needs a name here");

void add_counts(const Counts& counts);

}  // namespace simt::cpu
