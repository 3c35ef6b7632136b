// SPDX-License-Identifier: MIT
/// @file
/// What step 3 of stage 4 signs of the contract, and what it multiplies.
#include "stage4_tuning/step2_skip_future/attention.hpp"
#include "stage4_tuning/step3_tensor_cores/attention.hpp"

#include <cstdint>

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#if WORKSHOP_CPU_DEVICE
#include "common/device/cpu/cpu_device.hpp"
#endif

namespace {

const workshop::Contract kContract{workshop::stage(4, 3), stage4_tuning_step3::attention,
                                   workshop::kPairs};
const workshop::Contract kPrevious{workshop::stage(4, 2), stage4_tuning_step2::attention};

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

TEST_CASE("step 2 and step 3 agree within twice the bound") {
  check_agrees_with(kContract, kPrevious);
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

namespace {

/// What the page says of a launch without a mask: an mma does 16 x 8 x 16 products, q k^T and p V
/// have as many, and every warp has 16 rows, past the end too.
std::uint64_t mma_of(int n, int d, int block_n) {
  const int warps = (n + 63) / 64 * 4;
  const int tiles = (n + block_n - 1) / block_n;
  return std::uint64_t(warps) * tiles * 2 * (block_n / 8) * (d / 16);
}

}  // namespace

TEST_CASE("the number of mma is that of the page") {
  CHECK(mma_of(2048, 64, 64) == 262'144);
  for (const int n : {1, 64, 65, 333}) {
    for (const int d : workshop::kHeadDims) {
      for (const int block_n : {32, 64}) {
        INFO("N = " << n << ", D = " << d << ", block_n " << block_n);
        const auto inputs = workshop::make_inputs("normal", workshop::ElementType::bf16, n, d, 29);
        simt::cpu::reset_counts();
        workshop::DeviceCase(inputs, workshop::Mask::none, block_n).run(kContract.attention);
        CHECK(simt::cpu::counts().mma == mma_of(n, d, block_n));
      }
    }
  }
}
#endif
