// SPDX-License-Identifier: MIT
/// @file
/// What every command of the workshop ends with, and the one place that turns errors into it.
#pragma once

#include <functional>
#include <string>

namespace workshop {

/// How every program and command ends.
enum ExitStatus {
  kAllRight = 0,
  kWrongResult = 1,
  kRefused = 2,  // nothing was launched and nothing was written
  kFailed = 3,   // build, packages or device are missing or failed
  kInterrupted = 130,
};

/// What another program ended with, as one of ours; one that crashed has failed.
int as_exit_status(int status);

/// A line on stderr: progress, or an error. Nothing stops because nobody can read it.
void say(const std::string& line);

/// Runs `body` as the whole of a program: an error becomes one message on stderr and its status, an
/// interrupt ends it with kInterrupted. What `body` printed must have reached its reader.
/// @returns what `body` returns, or kRefused, kWrongResult (a kernel's fault) or kFailed
int run_program(const std::function<int()>& body);

}  // namespace workshop
