// SPDX-License-Identifier: MIT
/// @file
/// The benchmark of stage 1: times it on the grid that all stages share.
#include "stage1_single_tile/attention.hpp"

#include "common/harness/bench_program.hpp"

int main(int argc, char** argv) {
  return workshop::bench_program(argc, argv, workshop::stage(1), stage1_single_tile::attention);
}
