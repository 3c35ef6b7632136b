// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of stage 2: times it on the grid that all stages share.
#include "stage2_online_softmax/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(2), stage2_online_softmax::attention);
}
