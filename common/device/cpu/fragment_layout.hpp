// SPDX-License-Identifier: MIT
/// @file
/// Which elements of its matrices a lane holds in its registers.
///
/// Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", where lane / 4 is
/// called groupID and lane % 4 threadID_in_group; and "Warp-level matrix load instruction: ldmatrix".
#pragma once

namespace simt::cpu {

struct Position {
  int row;
  int column;
};

/// A is 16 x 16, four registers a lane. `half`: 0 for the lower 16 bits of a register, 1 for the upper.
constexpr Position position_in_a(int lane, int reg, int half) {
  return {lane / 4 + 8 * (reg % 2), 2 * (lane % 4) + 8 * (reg / 2) + half};
}

/// B is 16 x 8, two registers a lane.
constexpr Position position_in_b(int lane, int reg, int half) {
  return {2 * (lane % 4) + 8 * reg + half, lane / 4};
}

/// C and D are 16 x 8 of float, four a lane.
constexpr Position position_in_d(int lane, int i) {
  return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
}

/// An 8 x 8 matrix that ldmatrix loads, one register a lane; with .trans, of the transposed matrix.
constexpr Position position_in_8x8(int lane, int half) { return {lane / 4, 2 * (lane % 4) + half}; }

}  // namespace simt::cpu
