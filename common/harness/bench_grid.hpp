// SPDX-License-Identifier: MIT
/// @file
/// What is benchmarked: one grid of problems for all stages, and what a problem costs on paper.
#pragma once

#include <string>
#include <vector>

#include "common/attention/problem.hpp"
#include "common/attention/stages.hpp"
#include "common/device/device.hpp"
#include "common/harness/command_line.hpp"

namespace workshop {

/// One problem of the grid.
struct BenchPoint {
  int n = 0;
  int d = 0;
  ElementType type = ElementType::fp16;
  Mask mask = Mask::none;
  int block_n = 0;
};

/// The values along each axis; the grid is their product.
struct BenchGrid {
  std::vector<int> n;
  std::vector<int> d;
  std::vector<ElementType> type;
  std::vector<Mask> mask;
  std::vector<int> block_n;
};

/// The whole grid of a device: on the CPU device small enough for a few tens of seconds.
BenchGrid bench_grid(simt::DeviceKind device);

/// Options that put one value in the place of an axis: --n, --d, --dtype, --mask, --block-n.
void declare_grid_options(CommandLine& line);

/// The device's grid with the axes that `line` names.
/// @throws Refusal for a value outside the contract
BenchGrid bench_grid(const CommandLine& line, simt::DeviceKind device);

/// The arguments that give a program the axes that `line` names.
std::vector<std::string> grid_arguments(const CommandLine& line);

/// The points that `stage` promises, in one order for all stages: masks, D, types, N, tile widths.
std::vector<BenchPoint> bench_points(const BenchGrid& grid, const Stage& stage);

/// The same of a stage that must have some.
/// @throws Refusal if it promises none of them, saying why not the first
std::vector<BenchPoint> required_points(const BenchGrid& grid, const Stage& stage);

/// "stage2_online_softmax/n:1024/d:64/type:fp16/mask:none/block_n:32"
std::string bench_name(const Stage& stage, const BenchPoint& point);

/// Floating-point operations: a multiplication and an addition for each product of QK^T and PV, nothing
/// for the softmax, and masked scores not counted. 4 N^2 D without a mask; causal 4 D N(N+1)/2, since
/// row i sees i + 1 keys. (The FlashAttention papers count alike, with N^2/2 under the mask.)
double flops(const BenchPoint& point);

/// Compulsory traffic in bytes: Q, K and V read once, O written once, 2 bytes an element. No kernel
/// moves less; what one moves more stays in caches or is waste.
double compulsory_bytes(const BenchPoint& point);

}  // namespace workshop
