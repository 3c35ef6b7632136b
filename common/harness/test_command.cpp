// SPDX-License-Identifier: MIT
#include "common/harness/test_command.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <thread>

#include <fmt/format.h>

#include "common/harness/build.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/process.hpp"

namespace workshop {
namespace {

namespace fs = std::filesystem;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number of cases that the head of a result file states; 0 without a head.
int stated_count(std::string_view junit) {
  const std::string head(junit.substr(0, junit.find('>', junit.find("<testsuite "))));
  std::smatch match;
  const bool found = std::regex_search(head, match, std::regex(R"(\stests="(\d{1,6})\")"));
  return found ? std::stoi(match[1]) : 0;
}

/// A progress line for each test on stderr as it ends, and ctest's closing line on stdout.
int run_ctest(const fs::path& results, const std::optional<std::string>& filter) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> command = {
      "ctest",          "--test-dir",         build_folder().string(),
      "--output-junit", results.string(),     "--output-on-failure",
      "--parallel",     std::to_string(cores)};
  if (filter) command.insert(command.end(), {"--tests-regex", *filter});
  const auto show = [](const std::string& line) {
    fmt::print(contains(line, "% tests passed, ") ? stdout : stderr, "{}\n", line);
  };
  return run_process(command, {.on_line = show});
}

std::string read_whole(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TestCounts count_tests(std::string_view junit) {
  // Texts in the file have no bare '<', and attributes neither '<', '>' nor '"'.
  constexpr std::string_view kCase = "<testcase ";
  TestCounts counts;
  int total = 0;
  for (auto at = junit.find(kCase); at != std::string_view::npos; ++total) {
    const auto next = junit.find(kCase, at + kCase.size());
    const std::string_view one = junit.substr(at, next - at);
    const std::string_view attributes = one.substr(0, one.find('>'));
    if (contains(attributes, " status=\"run\"")) {
      ++counts.passed;
    } else if (contains(one, "<skipped message=\"SKIP_")) {
      ++counts.skipped;
    } else {
      ++counts.failed;
    }
    at = next;
  }
  counts.failed += std::max(0, stated_count(junit) - total);
  return counts;
}

int test_command(const std::vector<std::string>& arguments) {
  CommandLine line("./workshop test",
                   "Builds and runs the tests, on a GPU too where there is one.");
  line.add_positional("FILTER", "only the tests whose names match it (all)",
                      "a regular expression, as stage2");
  if (!line.parse(arguments)) return kAllRight;

  build_targets({"workshop_tests"});
  const fs::path results = build_folder() / "test_results.xml";
  fs::remove(results);
  const int status = run_ctest(results, line.value("FILTER"));
  if (status == kInterrupted) return kInterrupted;

  const TestCounts counts = count_tests(read_whole(results));
  if (counts.passed + counts.failed + counts.skipped == 0) {
    if (line.has("FILTER"))
      line.refuse("FILTER", "a regular expression that matches a test's name");
    say("no test ran");
  }
  if (status != 0) say(fmt::format("ctest ended with status {}", status));
  fmt::print("{} passed, {} failed, {} skipped\n", counts.passed, counts.failed, counts.skipped);
  const bool right = status == 0 && counts.failed == 0 && counts.passed + counts.skipped > 0;
  return right ? kAllRight : kWrongResult;
}

}  // namespace workshop
