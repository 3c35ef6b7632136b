// SPDX-License-Identifier: MIT
/// @file
/// The whole way of a benchmark, through Google Benchmark and back: what is right is reported, and
/// what is wrong is not.
#include "common/harness/bench_program.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/harness/bench_results.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/planted_attention.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

struct Report {
  int status;
  nlohmann::json output;
  std::vector<BenchRow> rows;
};

int run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench_program_test");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return bench_program(int(pointers.size()), pointers.data(), stage(3), planted_attention);
}

/// The same in a process of its own, since Google Benchmark runs once in each.
int run_in_child(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(run(arguments));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Two rows: without a mask and causal.
Report report_on(Plant with) {
  plant = std::move(with);
  const TemporaryFolder folder;
  const std::string file = folder.file("output.json");
  const int status = run_in_child(
      {"--n", "40", "--d", "16", "--benchmark_out=" + file, "--benchmark_out_format=json"});
  std::ifstream stream(file);
  const auto output = benchmark_output({std::istreambuf_iterator<char>(stream), {}});
  REQUIRE(output.is_object());
  const std::vector<BenchPoint> points = {{.n = 40, .d = 16, .mask = Mask::none, .block_n = 32},
                                          {.n = 40, .d = 16, .mask = Mask::causal, .block_n = 32}};
  return {status, output, bench_rows(stage(3), points, output)};
}

}  // namespace

TEST_CASE("right results are reported, with what the numbers come from") {
  const Report report = report_on({});
  CHECK(report.status == kAllRight);
  for (const BenchRow& row : report.rows) {
    CHECK(row.result.passed);
    CHECK(*row.result.time_ms > 0);
    CHECK(*row.result.error_share < 1);
    CHECK(row.result.repeats == 5);
    CHECK(row.counts.contains("shuffles"));
  }
  const auto& first = report.output.at("benchmarks")[0];
  CHECK(first.at("flops") == report.rows[0].flops);
  CHECK(first.at("bytes") == report.rows[0].bytes);
  CHECK_FALSE(first.contains("flop_per_s"));  // no speed of the CPU device
  CHECK(report.output.at("context").contains("library_build_type"));
  CHECK_FALSE(report.output.at("context").at("benchmark_version").get<std::string>().empty());
  CHECK(device_of(report.output).at("kind") == "cpu");
}

TEST_CASE("a wrong row is refused and costs the exit status, the others are reported") {
  const Report report =
      report_on({.spoil_values = [](Matrix<double>& o, const Expectation& expectation) {
        if (plant.launches == 1) o(7, 3) += 3 * expectation.bound(7, 3);
      }});
  CHECK(report.status == kWrongResult);
  CHECK_FALSE(report.rows[0].result.passed);
  CHECK_FALSE(report.rows[0].result.time_ms.has_value());
  CHECK_THAT(report.rows[0].result.detail, ContainsSubstring("o[7][3]"));
  CHECK(report.rows[1].result.passed);
}

TEST_CASE("a row whose bits change while it is timed is refused") {
  const Report report =
      report_on({.spoil_values = [](Matrix<double>& o, const Expectation& expectation) {
        if (plant.launches == 2) o(7, 3) += 0.4 * expectation.bound(7, 3);
      }});
  CHECK(report.status == kWrongResult);
  CHECK_THAT(report.rows[0].result.detail, ContainsSubstring("different bits"));
  CHECK_FALSE(report.rows[0].result.time_ms.has_value());
}

TEST_CASE("a benchmark refuses what it does not know, and launches nothing") {
  plant = {};
  for (const std::vector<std::string>& refused :
       std::vector<std::vector<std::string>>{{"--n", "0"},
                                             {"--seed", "1"},
                                             {"3"},
                                             {"--block-n", "64"},
                                             {"--benchmark_no_such_option=1"}}) {
    INFO(refused.front());
    CHECK(run(refused) == kRefused);
  }
  CHECK(plant.launches == 0);
}

}  // namespace workshop
