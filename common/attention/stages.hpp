// SPDX-License-Identifier: MIT
/// @file
/// The stages as data: their names, the one new idea of each, and what each one promises.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

namespace workshop {

/// What a stage computes beyond the part of the contract that all stages share.
struct Promise {
  bool any_length = false;  // otherwise N must be a multiple of block_n
  bool causal = false;
  std::span<const int> block_n;  // the tile widths it has
};

struct Stage {
  int number;
  std::string_view name;  // of its folder, namespace and program
  std::string_view idea;
  Promise promise;
};

inline constexpr int kNarrowTile[] = {32};

inline constexpr Stage kStages[] = {
    {1,
     "stage1_single_tile",
     "softmax of one tile in shared memory; many tiles in two sweeps",
     {.any_length = false, .causal = false, .block_n = kNarrowTile}},
    {2,
     "stage2_online_softmax",
     "carry (m, l, a) and rescale: one sweep",
     {.any_length = false, .causal = false, .block_n = kNarrowTile}},
    {3,
     "stage3_masking",
     "any N, causal, each output row stored by its owner alone",
     {.any_length = true, .causal = true, .block_n = kNarrowTile}},
};

constexpr const Stage& stage(int number) { return kStages[number - 1]; }

}  // namespace workshop
