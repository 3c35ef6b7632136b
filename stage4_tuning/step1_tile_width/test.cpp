// SPDX-License-Identifier: MIT
/// @file
/// What step 1 of stage 4 signs of the contract: all that stage 3 does, with tiles of 32 and 64 keys.
#include "stage3_masking/attention.hpp"
#include "stage4_tuning/step1_tile_width/attention.hpp"

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"

namespace {

const workshop::Contract kContract{workshop::stage(4, 1), stage4_tuning_step1::attention};
const workshop::Contract kPrevious{workshop::stage(3), stage3_masking::attention};

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

TEST_CASE("with tiles of 32 keys, stage 3 and step 1 agree bitwise") {
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

TEST_CASE("a tile wholly in the future leaves m, l and a bitwise as they were") {
  check_future_tiles_leave_the_state(kContract);
}
#endif
