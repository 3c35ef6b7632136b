// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of stage 3: times it on the grid that all stages share.
#include "stage3_masking/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(3), stage3_masking::attention);
}
