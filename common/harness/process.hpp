// SPDX-License-Identifier: MIT
/// @file
/// Running another program, by its words: no shell, so no quoting.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace workshop {

/// Where the standard output of a program goes.
enum class StandardOutput { inherit, to_stderr, null };

/// How a program is run.
struct ProcessOptions {
  StandardOutput standard_output = StandardOutput::inherit;
  /// If set, gets each line of the standard output, without its end, as soon as it is there.
  std::function<void(const std::string& line)> on_line = {};
};

/// Runs a program to its end; its standard input and standard error are ours.
/// @param words  the program, looked for on PATH unless it has a slash, and its arguments
/// @returns its exit status; 128 + the signal that ended it; 127 if it could not be started
/// @throws std::system_error if this machine has no pipe or no process left
int run_process(const std::vector<std::string>& words, const ProcessOptions& options = {});

}  // namespace workshop
