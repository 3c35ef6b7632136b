// SPDX-License-Identifier: MIT
/// @file
/// What every stage's `bench.cpp` does. The only part of the project that uses Google Benchmark.
#pragma once

#include "common/attention/stages.hpp"
#include "common/harness/device_case.hpp"

namespace workshop {

/// Times `attention` on the points of the grid that `stage` promises, on the device that this program
/// is linked to. A row whose result was wrong is skipped with an error in the place of a time.
/// Takes the options of the grid and those of Google Benchmark (--benchmark_...).
/// @returns an ExitStatus: kWrongResult if a result was wrong
int bench_program(int argc, char** argv, const Stage& stage, AttentionFunction attention);

}  // namespace workshop
