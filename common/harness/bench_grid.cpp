// SPDX-License-Identifier: MIT
#include "common/harness/bench_grid.hpp"

#include <iterator>

#include <fmt/format.h>

namespace workshop {
namespace {

constexpr const char* kGridOptions[] = {"--n", "--d", "--dtype", "--mask", "--block-n"};

/// All points, promised or not, in one order.
std::vector<BenchPoint> product(const BenchGrid& grid) {
  std::vector<BenchPoint> points;
  for (const Mask mask : grid.mask) {
    for (const int d : grid.d) {
      for (const ElementType type : grid.type) {
        for (const int n : grid.n) {
          for (const int block_n : grid.block_n) {
            points.push_back({.n = n, .d = d, .type = type, .mask = mask, .block_n = block_n});
          }
        }
      }
    }
  }
  return points;
}

void require_promised(const BenchPoint& point, const Stage& stage) {
  require_promised(point.type, point.mask, point.n, point.d, point.block_n, stage);
}

bool is_promised(const BenchPoint& point, const Stage& stage) {
  try {
    require_promised(point, stage);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace

BenchGrid bench_grid(simt::DeviceKind device) {
  const std::vector<int> tiles(std::begin(kBothTiles), std::end(kBothTiles));
  const std::vector<Mask> masks = {Mask::none, Mask::causal};
  if (device == simt::DeviceKind::cpu) {
    return {.n = {64, 128, 256},
            .d = {64},
            .type = {ElementType::fp16},
            .mask = masks,
            .block_n = tiles};
  }
  return {.n = {64, 256, 1024, 2048},
          .d = {std::begin(kHeadDims), std::end(kHeadDims)},
          .type = {ElementType::fp16, ElementType::bf16},
          .mask = masks,
          .block_n = tiles};
}

void declare_grid_options(CommandLine& line) {
  line.add_option("--n", "this length alone", "a whole number from 1 to 2048");
  line.add_option("--d", "this head dimension alone", "16, 32, 64");
  line.add_option("--dtype", "this type alone", "fp16, bf16");
  line.add_option("--mask", "this mask alone", "none, causal");
  line.add_option("--block-n", "tiles of so many keys alone", "32, 64");
}

BenchGrid bench_grid(const CommandLine& line, simt::DeviceKind device) {
  BenchGrid grid = bench_grid(device);
  if (const auto n = line.number("--n", 1, kMaxSeqLen)) grid.n = {int(*n)};
  if (const auto d = line.choice("--d", {"16", "32", "64"})) grid.d = {std::stoi(*d)};
  if (const auto type = line.choice("--dtype", {"fp16", "bf16"})) {
    grid.type = {*type == "fp16" ? ElementType::fp16 : ElementType::bf16};
  }
  if (const auto mask = line.choice("--mask", {"none", "causal"})) {
    grid.mask = {*mask == "none" ? Mask::none : Mask::causal};
  }
  if (const auto width = line.choice("--block-n", {"32", "64"})) {
    grid.block_n = {std::stoi(*width)};
  }
  return grid;
}

std::vector<std::string> grid_arguments(const CommandLine& line) {
  std::vector<std::string> arguments;
  for (const char* option : kGridOptions) {
    if (const auto value = line.value(option)) arguments.insert(arguments.end(), {option, *value});
  }
  return arguments;
}

std::vector<BenchPoint> bench_points(const BenchGrid& grid, const Stage& stage) {
  std::vector<BenchPoint> points = product(grid);
  std::erase_if(points, [&](const BenchPoint& point) { return !is_promised(point, stage); });
  return points;
}

std::vector<BenchPoint> required_points(const BenchGrid& grid, const Stage& stage) {
  std::vector<BenchPoint> points = bench_points(grid, stage);
  if (points.empty()) require_promised(product(grid).front(), stage);
  return points;
}

std::string bench_name(const Stage& stage, const BenchPoint& point) {
  return fmt::format("{}/n:{}/d:{}/type:{}/mask:{}/block_n:{}", stage.name, point.n, point.d,
                     name_of(point.type), name_of(point.mask), point.block_n);
}

double flops(const BenchPoint& point) {
  const double n = point.n;
  const double visible_scores = point.mask == Mask::causal ? n * (n + 1) / 2 : n * n;
  return 4.0 * point.d * visible_scores;
}

double compulsory_bytes(const BenchPoint& point) {
  constexpr double kTensors = 4;
  constexpr double kElementBytes = 2;
  return kTensors * kElementBytes * point.n * point.d;
}

}  // namespace workshop
