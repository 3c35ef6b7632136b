// SPDX-License-Identifier: MIT
/// @file
/// Tests of running programs, and of counting what ctest found.
#include "common/harness/process.hpp"

#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "common/harness/catch.hpp"
#include "common/harness/test_command.hpp"

using workshop::count_tests;
using workshop::run_process;
using workshop::StandardOutput;
using workshop::TestCounts;

namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& words) {
  std::vector<std::string> lines;
  run_process(words, {.on_line = [&](const std::string& line) { lines.push_back(line); }});
  return lines;
}

/// A result file in the words of ctest 3.25.
std::string junit(int stated, const std::string& cases) {
  return "<?xml version=\"1.0\"?>\n<testsuite name=\"(empty)\"\n\ttests=\"" +
         std::to_string(stated) + "\"\n\tfailures=\"0\"\n\t>\n" + cases + "</testsuite>\n";
}

std::string test_case(const std::string& status, const std::string& inside = "") {
  return "\t<testcase name=\"a &quot;b&quot; &lt;c\" classname=\"a\" time=\"0.1\" status=\"" +
         status + "\">\n" + inside + "\t\t<system-out></system-out>\n\t</testcase>\n";
}

void check_counts(const TestCounts& counts, int passed, int failed, int skipped) {
  CHECK(counts.passed == passed);
  CHECK(counts.failed == failed);
  CHECK(counts.skipped == skipped);
}

}  // namespace

TEST_CASE("the exit status of a program comes back") {
  CHECK(run_process({"true"}) == 0);
  CHECK(run_process({"sh", "-c", "exit 3"}) == 3);
}

TEST_CASE("a program ended by a signal gives 128 and the signal") {
  CHECK(run_process({"sh", "-c", "kill -TERM $$"}) == 128 + 15);
}

TEST_CASE("a program that is not there gives 127") {
  CHECK(run_process({"/no/such/program"}) == 127);
  CHECK(run_process({"no-such-program"}, {.on_line = [](const std::string&) {}}) == 127);
}

TEST_CASE("words reach a program as they are, without a shell in between") {
  const std::vector<std::string> expected = {"a  b", "$HOME", "*", "'", ";false"};
  CHECK(lines_of({"printf", "%s\\n", "a  b", "$HOME", "*", "'", ";false"}) == expected);
}

TEST_CASE("lines come back whole, empty ones and an unended last one included") {
  CHECK(lines_of({"printf", "one\\n\\nlast"}) == std::vector<std::string>{"one", "", "last"});
  CHECK(lines_of({"true"}).empty());
  const auto long_line = lines_of({"printf", "%9000s\\n", "end"});
  REQUIRE(long_line.size() == 1);
  CHECK(long_line.front().size() == 9000);
}

TEST_CASE("the status comes back also when lines are read") {
  int lines = 0;
  const int status = run_process({"sh", "-c", "echo a; echo b; exit 7"},
                                 {.on_line = [&](const std::string&) { ++lines; }});
  CHECK(status == 7);
  CHECK(lines == 2);
}

TEST_CASE("standard output can go nowhere, or where standard error goes") {
  const std::vector<std::string> is_null = {"sh", "-c", "[ /proc/$$/fd/1 -ef /dev/null ]"};
  CHECK(run_process(is_null, {.standard_output = StandardOutput::null}) == 0);
  CHECK(run_process(is_null, {.on_line = [](const std::string&) {}}) == 1);

  const int our_stderr = dup(STDERR_FILENO);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDERR_FILENO);
  const int status = run_process(is_null, {.standard_output = StandardOutput::to_stderr});
  dup2(our_stderr, STDERR_FILENO);
  close(our_stderr);
  close(null);
  CHECK(status == 0);
}

TEST_CASE("passed, failed and skipped tests are counted apart") {
  check_counts(count_tests(junit(4, test_case("run") + test_case("run") + test_case("fail") +
                                        test_case("notrun",
                                                  "<skipped message=\"SKIP_REGULAR_"
                                                  "EXPRESSION_MATCHED\"/>\n"))),
               2, 1, 1);
}

TEST_CASE("a test that was not run, or is disabled, failed") {
  check_counts(count_tests(junit(3, test_case("notrun",
                                              "<skipped message=\"Unable to find "
                                              "executable\"/>\n") +
                                        test_case("notrun") + test_case("disabled"))),
               0, 3, 0);
}

TEST_CASE("what a test printed is not counted") {
  const std::string output =
      "<system-out>&lt;testcase status=\"run\"&gt; status=\"run\" tests=\"9\"</system-out>\n";
  check_counts(count_tests(junit(1, test_case("fail", output))), 0, 1, 0);
}

TEST_CASE("tests that a torn result file lost failed") {
  check_counts(count_tests(junit(5, test_case("run"))), 1, 4, 0);
}

TEST_CASE("no result file and an empty one count nothing") {
  check_counts(count_tests(""), 0, 0, 0);
  check_counts(count_tests(junit(0, "")), 0, 0, 0);
}
