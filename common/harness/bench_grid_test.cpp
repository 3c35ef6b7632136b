// SPDX-License-Identifier: MIT
#include "common/harness/bench_grid.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

constexpr simt::DeviceKind kDevices[] = {simt::DeviceKind::cpu, simt::DeviceKind::gpu};

std::size_t size_of(const BenchGrid& grid) {
  return grid.n.size() * grid.d.size() * grid.type.size() * grid.mask.size() * grid.block_n.size();
}

BenchGrid grid_of(const std::vector<std::string>& arguments) {
  CommandLine line("bench", "");
  declare_grid_options(line);
  line.parse(arguments);
  return bench_grid(line, simt::DeviceKind::gpu);
}

}  // namespace

TEST_CASE("a stage is benchmarked on what it promises and on nothing else") {
  for (const simt::DeviceKind device : kDevices) {
    const BenchGrid grid = bench_grid(device);
    const std::size_t tiles = grid.block_n.size(), masks = grid.mask.size();
    REQUIRE(tiles == 2);
    REQUIRE(masks == 2);
    for (const Stage& stage : kStages) {
      INFO(stage.name);
      const auto points = bench_points(grid, stage);
      // All lengths of the grids are multiples of both tile widths.
      std::size_t promised = size_of(grid);
      if (!stage.promise.causal) promised /= masks;
      if (stage.promise.block_n.size() == 1) promised /= tiles;
      CHECK(points.size() == promised);
      for (const BenchPoint& point : points) {
        CHECK_NOTHROW(
            require_promised(point.type, point.mask, point.n, point.d, point.block_n, stage));
      }
    }
  }
}

TEST_CASE("every row has a name of its own, and the same one in every stage") {
  const BenchPoint point{
      .n = 1024, .d = 64, .type = ElementType::bf16, .mask = Mask::causal, .block_n = 32};
  CHECK(bench_name(stage(3), point) ==
        "stage3_masking/n:1024/d:64/type:bf16/mask:causal/block_n:32");
  std::set<std::string> names;
  std::size_t count = 0;
  for (const Stage& stage : kStages) {
    for (const BenchPoint& one : bench_points(bench_grid(simt::DeviceKind::gpu), stage)) {
      names.insert(bench_name(stage, one));
      ++count;
    }
  }
  CHECK(names.size() == count);
}

TEST_CASE("FLOPs count two operations for each product of a visible score") {
  // N = 3, D = 16: 9 scores, or 1 + 2 + 3 under the mask; for each score 16 multiplications and
  // additions in QK^T and as many in PV.
  CHECK(flops({.n = 3, .d = 16, .mask = Mask::none}) == 9 * 16 * 2 * 2);
  CHECK(flops({.n = 3, .d = 16, .mask = Mask::causal}) == 6 * 16 * 2 * 2);
  CHECK(flops({.n = 2048, .d = 64, .mask = Mask::none}) == 1073741824.0);
  CHECK(flops({.n = 1, .d = 16, .mask = Mask::causal}) ==
        flops({.n = 1, .d = 16, .mask = Mask::none}));
}

TEST_CASE("bytes count four matrices of two bytes an element, once") {
  CHECK(compulsory_bytes({.n = 3, .d = 16}) == 4 * 3 * 16 * 2);
  CHECK(compulsory_bytes({.n = 2048, .d = 64}) == 1048576.0);
}

TEST_CASE("an option of the grid puts its value in the place of an axis") {
  const BenchGrid whole = grid_of({});
  CHECK(size_of(whole) == size_of(bench_grid(simt::DeviceKind::gpu)));
  const BenchGrid one = grid_of(
      {"--n", "1000", "--d", "16", "--dtype", "bf16", "--mask", "causal", "--block-n", "64"});
  const auto points = bench_points(one, stage(4, 1));
  REQUIRE(points.size() == 1);
  CHECK(bench_name(stage(4, 1), points.front()) ==
        "stage4_tuning_step1/n:1000/d:16/type:bf16/mask:causal/block_n:64");
  CHECK(grid_of({"--n", "64"}).d == whole.d);
}

TEST_CASE("the options of the grid reach a program as they were given") {
  CommandLine line("bench", "");
  declare_grid_options(line);
  line.parse({"--mask", "none", "--n", "64"});
  CHECK(grid_arguments(line) == std::vector<std::string>{"--n", "64", "--mask", "none"});
}

TEST_CASE("a value outside the contract, and a stage that promises none of the rows, are refused") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--n", "0"},
                                             {"--n", "2049"},
                                             {"--d", "48"},
                                             {"--dtype", "f32"},
                                             {"--mask", "causl"},
                                             {"--block-n", "16"}}) {
    CHECK_THAT(refusal_of([&] { grid_of(arguments); }),
               ContainsSubstring(arguments[0] + " '" + arguments[1] + "'; allowed: "));
  }
  CHECK_THAT(refusal_of([] {
               required_points(grid_of({"--n", "33"}), stage(1));
             }),
             ContainsSubstring("N = 33") && ContainsSubstring("stage3_masking"));
  CHECK_THAT(refusal_of([] {
               required_points(grid_of({"--mask", "causal"}), stage(2));
             }),
             ContainsSubstring("mask = causal"));
}

}  // namespace workshop
