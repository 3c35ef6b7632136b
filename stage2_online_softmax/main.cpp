// SPDX-License-Identifier: MIT
/// @file
/// The program of stage 2: runs it on the inputs that the options name, and checks what it computed.
#include "stage2_online_softmax/attention.hpp"

#include "common/harness/stage_program.hpp"

int main(int argc, char** argv) {
  return workshop::stage_program(argc, argv, workshop::stage(2), stage2_online_softmax::attention);
}
