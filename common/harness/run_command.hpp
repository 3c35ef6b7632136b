// SPDX-License-Identifier: MIT
/// @file
/// `./workshop run` and `./workshop check`.
#pragma once

#include <string>
#include <vector>

namespace workshop {

/// Builds and runs the programs of the chosen stages and devices, and prints one table of all.
/// @returns an ExitStatus, the worst of the programs'
int run_command(const std::vector<std::string>& arguments);

/// Judges the `o` of a file that any program made by the oracle and the bound.
/// @returns an ExitStatus
int check_command(const std::vector<std::string>& arguments);

}  // namespace workshop
