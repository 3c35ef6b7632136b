// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of step 2 of stage 4: times it on the grid that all stages share.
#include "stage4_tuning/step2_skip_future/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(4, 2), stage4_tuning_step2::attention);
}
