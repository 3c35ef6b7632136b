// SPDX-License-Identifier: MIT
/// @file
/// What step 4 of stage 4 signs of the contract, and what its swizzle and its buffers are for.
#include "stage4_tuning/step3_tensor_cores/attention.hpp"
#include "stage4_tuning/step4_async_copy/attention.hpp"

#include <cstdint>

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#if WORKSHOP_CPU_DEVICE
#include "common/device/cpu/cpu_device.hpp"
#endif

namespace {

const workshop::Contract kContract{workshop::stage(4, 4), stage4_tuning_step4::attention,
                                   workshop::kPairs};
const workshop::Contract kPrevious{workshop::stage(4, 3), stage4_tuning_step3::attention,
                                   workshop::kPairs};

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

TEST_CASE("step 3 and step 4 agree bitwise, with both masks and both widths") {
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

TEST_CASE("tiles of the future that a block visits leave the state bitwise as it was") {
  check_future_tiles_leave_the_state(kContract);
}

TEST_CASE(
    "a launch has the copies, the barriers and the matrix loads of the page, and no conflict") {
  for (const int d : workshop::kHeadDims) {
    for (const int block_n : {32, 64}) {
      INFO("D = " << d << ", block_n " << block_n);
      const int n = 192;  // 3 blocks of 64 rows, whole tiles of either width
      const std::uint64_t tiles = 3 * n / block_n;  // of all blocks
      const auto inputs = workshop::make_inputs("normal", workshop::ElementType::fp16, n, d, 31);
      simt::cpu::reset_counts();
      workshop::DeviceCase(inputs, workshop::Mask::none, block_n).run(kContract.attention);
      const simt::cpu::Counts counts = simt::cpu::counts();
      CHECK(counts.block_barriers == tiles);
      CHECK(counts.async_copies == tiles * 2 * block_n * d / 8);
      CHECK(counts.mma == tiles * 4 * 2 * (block_n / 8) * (d / 16));
      CHECK(counts.ldmatrix == counts.mma / 2);
      CHECK(counts.ldmatrix_conflicts == 0);
    }
  }
}
#endif
