// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of step 4 of stage 4: times it on the grid that all stages share.
#include "stage4_tuning/step4_async_copy/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(4, 4), stage4_tuning_step4::attention);
}
