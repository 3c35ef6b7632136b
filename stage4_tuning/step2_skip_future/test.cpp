// SPDX-License-Identifier: MIT
/// @file
/// What step 2 of stage 4 signs of the contract, and how many tiles it visits.
#include "stage4_tuning/step1_tile_width/attention.hpp"
#include "stage4_tuning/step2_skip_future/attention.hpp"

#include <cstdint>

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#if WORKSHOP_CPU_DEVICE
#include "common/device/cpu/cpu_device.hpp"
#endif

namespace {

const workshop::Contract kContract{workshop::stage(4, 2), stage4_tuning_step2::attention};
const workshop::Contract kPrevious{workshop::stage(4, 1), stage4_tuning_step1::attention};

}  // namespace

TEST_CASE("every input family stays inside the bound") { check_all_families(kContract); }

TEST_CASE("every promised length up to 130 and some beyond stay inside the bound") {
  check_every_short_length(kContract);
}

TEST_CASE("the longest lengths stay inside the bound") { check_longest_length(kContract); }

TEST_CASE("a head of a real model agrees with an independent reference") {
  check_real_heads(kContract);
}

TEST_CASE("p is rounded before PV, l sums it unrounded") {
  check_rounding_of_probabilities(kContract);
}

TEST_CASE("every run gives the same bits") { check_repeats_bitwise(kContract); }

TEST_CASE("the program of the CPU device agrees within twice the bound") {
  check_agrees_with_cpu_program(kContract);
}

TEST_CASE("what is not promised is refused, and nothing is launched") { check_refusals(kContract); }

TEST_CASE("a single key gives its value exactly") { check_single_element(kContract); }

TEST_CASE("keys and values of the future change nothing, at every prefix") {
  check_future_is_invisible(kContract);
}

TEST_CASE("step 1 and step 2 agree bitwise, with both masks and both widths") {
  check_equals_bitwise(kContract, kPrevious);
}

TEST_CASE("tiles of 32 and of 64 keys agree within twice the bound") {
  check_widths_agree(kContract);
}

TEST_CASE("every length up to 2048 stays inside the bound", "[.by_hand]") {
  check_every_length(kContract);
}

#if WORKSHOP_CPU_DEVICE
TEST_CASE("both schedules give the same bits") { check_schedules_agree(kContract); }

TEST_CASE("after each tile a / l is attention over the keys seen so far") {
  check_state_is_attention_so_far(kContract);
}

TEST_CASE("tiles of the future are not visited, and the states are bitwise those of step 1") {
  check_future_tiles_are_skipped(kContract, kPrevious);
}

namespace {

/// The sum of ceil(b / r) over the blocks b = 1 to B, with r blocks of rows to a tile's width.
std::uint64_t causal_tiles(int n, int block_n) {
  const int blocks = (n + 15) / 16;
  const int r = block_n / 16;
  const int whole = blocks / r;  // g
  const int rest = blocks % r;   // s
  return std::uint64_t(r * whole * (whole + 1) / 2 + rest * (whole + 1));
}

std::uint64_t all_tiles(int n, int block_n) {
  return std::uint64_t((n + 15) / 16) * std::uint64_t((n + block_n - 1) / block_n);
}

/// Each visited tile has two barriers: B1 and B3.
std::uint64_t visited_tiles(int n, workshop::Mask mask, int block_n) {
  const auto inputs = workshop::make_inputs("normal", workshop::ElementType::fp16, n, 16, 23);
  workshop::DeviceCase device_case(inputs, mask, block_n);
  simt::cpu::reset_counts();
  device_case.run(stage4_tuning_step2::attention);
  const std::uint64_t barriers = simt::cpu::counts().block_barriers;
  CHECK(barriers % 2 == 0);
  return barriers / 2;
}

}  // namespace

TEST_CASE("the number of tiles visited is that of the page") {
  CHECK(causal_tiles(70, 32) == 9);
  CHECK(causal_tiles(2048, 32) == 4160);
  CHECK(causal_tiles(2048, 64) == 2112);
  for (const int n : {1, 15, 16, 17, 32, 33, 48, 49, 64, 65, 70, 96, 112, 113, 128, 333, 2048}) {
    for (const int block_n : {32, 64}) {
      INFO("N = " << n << ", block_n " << block_n);
      CHECK(visited_tiles(n, workshop::Mask::causal, block_n) == causal_tiles(n, block_n));
      CHECK(visited_tiles(n, workshop::Mask::none, block_n) == all_tiles(n, block_n));
    }
  }
}
#endif
