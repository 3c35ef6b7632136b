// SPDX-License-Identifier: MIT
/// @file
/// The program behind `./workshop`, which has built it before it calls it.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/attention/problem.hpp"
#include "common/harness/bench_command.hpp"
#include "common/harness/build.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/process.hpp"
#include "common/harness/run_command.hpp"
#include "common/harness/test_command.hpp"

namespace workshop {
namespace {

/// The trace is a program of its own.
int trace_command(const std::vector<std::string>& arguments) {
  build_targets({"trace"});
  std::vector<std::string> command = {(program_folder() / "trace").string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, {});
}

int run_driver(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words.front();
  const std::vector<std::string> arguments(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (command == "run") return run_command(arguments);
  if (command == "test") return test_command(arguments);
  if (command == "check") return check_command(arguments);
  if (command == "bench") return bench_command(arguments);
  if (command == "trace") return trace_command(arguments);
  throw Refusal(fmt::format("command '{}'; allowed: run, test, bench, check, trace", command));
}

}  // namespace
}  // namespace workshop

int main(int argc, char** argv) {
  return workshop::run_program([&] { return workshop::run_driver({argv + 1, argv + argc}); });
}
