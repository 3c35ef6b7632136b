// SPDX-License-Identifier: MIT
/// @file
/// The program of stage 3: runs it on the inputs that the options name, and checks what it computed.
#include "stage3_masking/attention.hpp"

#include "common/harness/stage_program.hpp"

int main(int argc, char** argv) {
  return workshop::stage_program(argc, argv, workshop::stage(3), stage3_masking::attention);
}
