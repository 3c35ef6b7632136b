// SPDX-License-Identifier: MIT
/// @file
/// Kernels that each run one tensor-core or copy instruction, for instruction_test.cpp: the same on
/// the CPU device and on a GPU. Pointers are to device memory; bits of 16-bit elements as `type` says.
#pragma once

#include <cstdint>

#include "common/attention/element.hpp"

namespace instruction_kernels {

/// The elements of A (16 x 16), B (16 x 8) and D (16 x 8) by thread and value, as indices into a
/// matrix: m + 16 k, n + 8 k, m + 16 n. Source: the layouts of CUTLASS's CuTe for SM80_16x8x16, shapes
/// ((4,8),(2,2,2)), ((4,8),(2,2)) and ((4,8),(2,2)) with these strides. Written apart from
/// cpu/fragment_layout.hpp, which follows the PTX ISA, so that one can be checked against the other.
constexpr int index_in_a(int thread, int value) {
  return thread % 4 * 32 + thread / 4 + value % 2 * 16 + value / 2 % 2 * 8 + value / 4 * 128;
}
constexpr int index_in_b(int thread, int value) {
  return thread % 4 * 16 + thread / 4 + value % 2 * 8 + value / 2 * 64;
}
constexpr int index_in_d(int thread, int value) {
  return thread % 4 * 32 + thread / 4 + value % 2 * 16 + value / 2 * 8;
}

/// d += a b by one warp: all three in the order of the indices above.
void multiply(workshop::ElementType type, const std::uint16_t* a, const std::uint16_t* b, float* d);

/// Loads four 8 x 8 matrices; lane i names row `row_of_lane[i]` of 32 rows of 8 elements.
/// @param out  [32 lanes][4 registers]
void load_matrices(bool transposed, const std::uint16_t* rows, const int* row_of_lane,
                   unsigned* out);

/// Copies 16 bytes a thread through shared memory; thread i reads what thread 63 - i copied.
/// @param count  only the first `count` threads of 64 have a valid source
void copy_through_shared(const std::uint32_t* in, int count, std::uint32_t* out);

/// Copies `tiles` tiles of 64 x 16 bytes, two groups under way at a time; adds up the words of each
/// thread's neighbour.
void copy_in_two_groups(const std::uint32_t* in, int tiles, std::uint32_t* sums);

/// out[i] = pack of floats 2 i and 2 i + 1, and again of those two rounded one by one.
/// @param out  [2][count]
void pack_pairs(workshop::ElementType type, const float* in, int count, unsigned* out);

}  // namespace instruction_kernels
