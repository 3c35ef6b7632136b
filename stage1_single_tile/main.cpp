// SPDX-License-Identifier: MIT
/// @file
/// The program of stage 1: runs it on the inputs that the options name, and checks what it computed.
#include "stage1_single_tile/attention.hpp"

#include "common/harness/stage_program.hpp"

int main(int argc, char** argv) {
  return workshop::stage_program(argc, argv, workshop::stage(1), stage1_single_tile::attention);
}
