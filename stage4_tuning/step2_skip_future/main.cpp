// SPDX-License-Identifier: MIT
/// @file
/// The program of step 2 of stage 4: runs it on the inputs that the options name, and checks the result.
#include "stage4_tuning/step2_skip_future/attention.hpp"

#include "common/harness/stage_program.hpp"

int main(int argc, char** argv) {
  return workshop::stage_program(argc, argv, workshop::stage(4, 2), stage4_tuning_step2::attention);
}
