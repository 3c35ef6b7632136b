// SPDX-License-Identifier: MIT
/// @file
/// The program of step 4 of stage 4: runs it on the inputs that the options name, and checks the result.
#include "stage4_tuning/step4_async_copy/attention.hpp"

#include "common/harness/stage_program.hpp"

int main(int argc, char** argv) {
  return workshop::stage_program(argc, argv, workshop::stage(4, 4), stage4_tuning_step4::attention);
}
