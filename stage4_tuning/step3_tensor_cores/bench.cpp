// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of step 3 of stage 4: times it on the grid that all stages share.
#include "stage4_tuning/step3_tensor_cores/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(4, 3), stage4_tuning_step3::attention);
}
