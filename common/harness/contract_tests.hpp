// SPDX-License-Identifier: MIT
/// @file
/// The contract as tests that every stage runs on itself: a stage's test.cpp says which it signs.
/// Each is the body of one Catch2 case, and goes through the tile widths that the stage promises. On
/// a machine without a GPU, the GPU's say so and stop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/attention/matrix.hpp"
#include "common/attention/stages.hpp"
#include "common/harness/device_case.hpp"

namespace workshop {

/// How the lanes of a row share its columns, for tests that look at what a lane carries.
struct RowLayout {
  int lanes;                       // neighbours in a warp
  int (*column)(int lane, int i);  // the i-th of a lane
};
inline constexpr RowLayout kEveryEighth = {8, [](int lane, int i) { return i * 8 + lane; }};
inline constexpr RowLayout kPairs = {4,
                                     [](int lane, int i) { return i / 2 * 8 + lane * 2 + i % 2; }};

/// A stage under test, and how to call it.
struct Contract {
  const Stage& stage;
  AttentionFunction attention;
  RowLayout layout = kEveryEighth;
};

inline constexpr ElementType kTypes[] = {ElementType::fp16, ElementType::bf16};

/// The masks that a stage promises.
inline std::vector<Mask> masks_of(const Stage& stage) {
  if (stage.promise.causal) return {Mask::none, Mask::causal};
  return {Mask::none};
}

/// The lengths that a stage promises, of those given.
inline std::vector<int> lengths_of(const Stage& stage, std::vector<int> lengths) {
  if (!stage.promise.any_length) {
    const int block_n = stage.promise.block_n.front();
    std::erase_if(lengths, [=](int n) { return n % block_n != 0; });
  }
  return lengths;
}

inline std::string name_of_case(std::string_view family, ElementType type, int n, int d, Mask mask,
                                int block_n) {
  return fmt::format("{}, {}, N = {}, D = {}, mask {}, block_n {}", family, name_of(type), n, d,
                     name_of(mask), block_n);
}

/// Two outputs that are both inside the bound of these inputs are no further apart.
void check_within_twice_the_bound(const Matrix<double>& a, const Matrix<double>& b,
                                  const Inputs& inputs, Mask mask);

void check_all_families(const Contract& contract);
void check_every_short_length(const Contract& contract);
void check_longest_length(const Contract& contract);
void check_single_element(const Contract& contract);
void check_real_heads(const Contract& contract);
void check_rounding_of_probabilities(const Contract& contract);
void check_repeats_bitwise(const Contract& contract);
void check_refusals(const Contract& contract);

/// For stages with a mask: K and V after a prefix change, the outputs of the prefix do not.
void check_future_is_invisible(const Contract& contract);

/// For neighbours: both inside the bound is not enough; they agree within twice the bound.
void check_agrees_with(const Contract& contract, const Contract& previous);
/// For neighbours that do the same arithmetic where both are defined.
void check_equals_bitwise(const Contract& contract, const Contract& previous);
/// Two devices sum in another order, and a tensor core rounds its sums in a way of its own: the output
/// of this device and that of NAME_cpu, run as a program, agree within twice the bound.
void check_agrees_with_cpu_program(const Contract& contract);
/// For stages with several tile widths: their outputs agree within twice the bound.
void check_widths_agree(const Contract& contract);

/// By hand, since it takes minutes: every N from 1 to 2048, every mask, D = 16.
void check_every_length(const Contract& contract);

/// These look inside the CPU device; on a GPU there is nothing to see.
void check_schedules_agree(const Contract& contract);
void check_state_is_attention_so_far(const Contract& contract);
void check_future_tiles_leave_the_state(const Contract& contract);
/// For neighbours of which the first visits fewer tiles: the tiles that no row of a block sees, and
/// no others, are left out, and on the rest the states are bitwise the same.
void check_future_tiles_are_skipped(const Contract& contract, const Contract& previous);

}  // namespace workshop
