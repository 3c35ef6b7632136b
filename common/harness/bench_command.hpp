// SPDX-License-Identifier: MIT
/// @file
/// The command `bench` of the driver.
#pragma once

#include <string>
#include <vector>

namespace workshop {

/// Builds and runs the benchmarks of the chosen stages on one device, prints one table of all, and
/// with --output writes them as JSON. Times are reported of a GPU alone.
/// @returns an ExitStatus, the worst of the programs'
/// @throws Refusal before anything is built
int bench_command(const std::vector<std::string>& arguments);

}  // namespace workshop
