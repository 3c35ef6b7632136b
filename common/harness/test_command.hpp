// SPDX-License-Identifier: MIT
/// @file
/// `./workshop test`: builds all tests, runs them with ctest, and counts what came of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workshop {

/// How many test cases ended how.
struct TestCounts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

/// Counts the test cases of a result file that ctest wrote (JUnit's format, `--output-junit`).
/// Passed is only what ran and passed, skipped only what said so itself; all else failed: what is
/// disabled, what was not run because its program is missing, and what the file promises in its
/// head but does not hold.
TestCounts count_tests(std::string_view junit);

/// @param arguments  those after `./workshop test`: at most one, a regular expression on the names
/// @returns kAllRight; kWrongResult if a test failed or none ran
/// @throws Refusal, BuildFailure
int test_command(const std::vector<std::string>& arguments);

}  // namespace workshop
