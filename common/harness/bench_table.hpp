// SPDX-License-Identifier: MIT
/// @file
/// The table of a benchmark as a reader sees it.
#pragma once

#include <string>
#include <vector>

#include "common/harness/bench_results.hpp"

namespace workshop {

/// At most 100 columns: a line that says what all rows share, the table, and under it what is wrong.
/// On a GPU times and FLOP/s; on the CPU device the counts of a launch, as many as there is room for.
/// @param rows  at least one, all of one device
std::string bench_table(const std::vector<BenchRow>& rows);

}  // namespace workshop
