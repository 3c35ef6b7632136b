// SPDX-License-Identifier: MIT
/// @file
/// The matrix operations of a warp: mma.sync and ldmatrix. Both need all 32 lanes.
#pragma once

#include "common/attention/element.hpp"
#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {

/// d += a b for a 16 x 16 matrix a and a 16 x 8 matrix b, in the fragments of fragment_layout.hpp.
///
/// Products are exact. The sum is formed in double, d first and then k = 0, ..., 15, and is rounded
/// once to float; every NaN is 0x7fffffff. These bits are the same on every machine. A GPU promises
/// neither an order of the additions nor how they round (it may cut bits off), so its result can
/// differ in the last places, unless every partial sum is exact in float.
/// @throws KernelFault if a lane takes no part
void mma_m16n8k16(workshop::ElementType type, float (&d)[4], const unsigned (&a)[4], unsigned b0,
                  unsigned b1, Site site);

/// Loads four 8 x 8 matrices of 16-bit elements; lane i gives row i % 8 of matrix i / 8. A lane reads
/// its row when it calls: what another lane writes later is not in it.
/// @throws KernelFault if a row is misaligned or outside shared memory, or a lane takes no part
void ldmatrix_x4(bool transposed, unsigned (&r)[4], const void* row, Site site);

}  // namespace simt::cpu
