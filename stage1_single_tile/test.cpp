// SPDX-License-Identifier: MIT
/// @file
/// What stage 1 signs of the contract.
#include "stage1_single_tile/attention.hpp"

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"

namespace {

const workshop::Contract kContract{workshop::stage(1), stage1_single_tile::attention};

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

TEST_CASE("every length up to 2048 stays inside the bound", "[.by_hand]") {
  check_every_length(kContract);
}

#if WORKSHOP_CPU_DEVICE
TEST_CASE("both schedules give the same bits") { check_schedules_agree(kContract); }
#endif
