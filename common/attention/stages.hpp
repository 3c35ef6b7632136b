// SPDX-License-Identifier: MIT
/// @file
/// The stages, and the steps of stage 4, as data: their names, the idea of each, what it promises.
#pragma once

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string_view>

namespace workshop {

/// What a stage computes beyond the part of the contract that all stages share.
struct Promise {
  bool any_length = false;  // otherwise N must be a multiple of block_n
  bool causal = false;
  std::span<const int> block_n;  // the tile widths it has
};

/// A stage, or one step of a stage that is a row of them.
struct Stage {
  int number;
  int step;                 // 0: the stage has no steps
  std::string_view name;    // of its namespace and program
  std::string_view folder;  // from the root of the project
  std::string_view idea;
  Promise promise;
  int compute_capability = 75;  // that a GPU must have: 75 is 7.5
};

/// For a device that runs every stage: the CPU device.
inline constexpr int kAnyCapability = 1000;

inline constexpr int kNarrowTile[] = {32};
inline constexpr int kBothTiles[] = {32, 64};

/// In the order in which they are read: "later" means further down.
inline constexpr Stage kStages[] = {
    {1,
     0,
     "stage1_single_tile",
     "stage1_single_tile",
     "softmax of one tile in shared memory; many tiles in two sweeps",
     {.any_length = false, .causal = false, .block_n = kNarrowTile}},
    {2,
     0,
     "stage2_online_softmax",
     "stage2_online_softmax",
     "carry (m, l, a) and rescale: one sweep",
     {.any_length = false, .causal = false, .block_n = kNarrowTile}},
    {3,
     0,
     "stage3_masking",
     "stage3_masking",
     "any N, causal, each output row stored by its owner alone",
     {.any_length = true, .causal = true, .block_n = kNarrowTile}},
    {4,
     1,
     "stage4_tuning_step1",
     "stage4_tuning/step1_tile_width",
     "a tile holds 32 keys or 64",
     {.any_length = true, .causal = true, .block_n = kBothTiles}},
    {4,
     2,
     "stage4_tuning_step2",
     "stage4_tuning/step2_skip_future",
     "tiles wholly in the causal future are not visited",
     {.any_length = true, .causal = true, .block_n = kBothTiles}},
    {4,
     3,
     "stage4_tuning_step3",
     "stage4_tuning/step3_tensor_cores",
     "tensor cores; scores become p in registers",
     {.any_length = true, .causal = true, .block_n = kBothTiles},
     80},
    {4,
     4,
     "stage4_tuning_step4",
     "stage4_tuning/step4_async_copy",
     "the next tile is copied while this one is computed",
     {.any_length = true, .causal = true, .block_n = kBothTiles},
     80},
};

/// @throws std::out_of_range if there is none
constexpr const Stage& stage(int number, int step = 0) {
  for (const Stage& one : kStages) {
    if (one.number == number && one.step == step) return one;
  }
  throw std::out_of_range("no such stage");
}

}  // namespace workshop
