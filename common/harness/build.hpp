// SPDX-License-Identifier: MIT
/// @file
/// The build folder this program stands in, and building more of it: each command builds what it
/// needs and no more.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace workshop {

struct BuildFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the programs of this build are: the folder of the running one.
std::filesystem::path program_folder();

/// The build folder: the parent of program_folder().
/// @throws BuildFailure if it is none, because the program was copied out of its build folder
std::filesystem::path build_folder();

/// Brings targets up to date; the compiler's output goes to stderr.
/// @throws BuildFailure if that fails
void build_targets(std::vector<std::string> targets);

}  // namespace workshop
