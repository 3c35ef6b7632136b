// SPDX-License-Identifier: MIT
/// @file
/// What every stage's `main` does.
#pragma once

#include "common/attention/stages.hpp"
#include "common/harness/device_case.hpp"

namespace workshop {

/// Reads the options, checks them against what `stage` promises, runs `attention` on the device that
/// this program is linked to, judges o by the oracle and the bound, and prints one row.
/// @returns an ExitStatus
int stage_program(int argc, char** argv, const Stage& stage, AttentionFunction attention);

}  // namespace workshop
