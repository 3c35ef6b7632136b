// SPDX-License-Identifier: MIT
#include "common/harness/bench_results.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/harness/bench_table.hpp"
#include "common/harness/catch.hpp"

namespace workshop {
namespace {

using nlohmann::json;

constexpr BenchPoint kPoint{
    .n = 1024, .d = 64, .type = ElementType::fp16, .mask = Mask::none, .block_n = 32};

/// An entry as Google Benchmark writes it.
std::string entry(const std::string& name, const std::string& type, const std::string& rest) {
  return fmt::format(
      "    {{\n      \"run_name\": \"{}/min_time:0.001/manual_time\",\n"
      "      \"run_type\": \"{}\",\n{}\n    }}",
      name, type, rest);
}

std::string timed(double microseconds) {
  return fmt::format(
      "      \"real_time\": {},\n      \"time_unit\": \"us\",\n"
      "      \"error_share_of_bound\": 0.5,\n      \"launches_per_time\": 20,\n"
      "      \"per launch: warp barriers\": 12",
      microseconds);
}

json output_of(const std::string& kind, const std::vector<std::string>& entries) {
  std::string list;
  for (const std::string& one : entries) list += (list.empty() ? "" : ",\n") + one;
  return benchmark_output(
      fmt::format("{{\n  \"context\": {{\"device_kind\": \"{}\", \"device_name\": \"NVIDIA H200\", "
                  "\"device_description\": \"9.0\", \"benchmark_version\": \"1.7.1\", "
                  "\"library_build_type\": \"debug\"}},\n  \"benchmarks\": [\n{}\n  ]\n}}\n",
                  kind, list));
}

/// The row of a program that took `times` microseconds.
BenchRow row_of(const std::string& kind, const Stage& stage, const std::vector<double>& times,
                const BenchPoint& point = kPoint) {
  std::vector<std::string> entries;
  for (const double time : times) {
    entries.push_back(entry(bench_name(stage, point), "iteration", timed(time)));
  }
  return bench_rows(stage, {point}, output_of(kind, entries)).front();
}

void check_width(const std::string& table) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

}  // namespace

TEST_CASE("a row is the median of its repetitions, with the counts of a launch") {
  const std::string name = bench_name(stage(2), kPoint);
  const json output =
      output_of("gpu", {entry(name, "iteration", timed(30)), entry(name, "iteration", timed(10)),
                        entry(name, "iteration", timed(20)), entry(name, "aggregate", timed(99)),
                        entry(name + "0", "iteration", timed(1))});
  const BenchRow row = bench_rows(stage(2), {kPoint}, output).front();
  CHECK(row.result.passed);
  CHECK(row.result.device == "NVIDIA H200");
  CHECK(row.result.time_ms == 0.02);
  CHECK(row.fastest_ms == 0.01);
  CHECK(row.slowest_ms == 0.03);
  CHECK(row.result.repeats == 3);
  CHECK(row.result.error_share == 0.5);
  CHECK(row.launches_per_time == 20);
  CHECK(row.counts.at("warp barriers") == 12);
  CHECK(row.flop_per_s() == 4.0 * 1024 * 1024 * 64 / (0.02 / 1000));
}

TEST_CASE("a row with an error, and one that is missing, have failed and have no time") {
  const std::string name = bench_name(stage(1), kPoint);
  const std::string error =
      "      \"error_occurred\": true,\n      \"error_message\": \"o[0][0] = nan\",\n" + timed(0);
  const json wrong =
      output_of("gpu", {entry(name, "iteration", timed(10)), entry(name, "iteration", error)});
  for (const json& output : {wrong, output_of("gpu", {})}) {
    const BenchRow row = bench_rows(stage(1), {kPoint}, output).front();
    CHECK_FALSE(row.result.passed);
    CHECK_FALSE(row.result.time_ms.has_value());
    CHECK_FALSE(row.result.error_share.has_value());
    CHECK_FALSE(row.flop_per_s().has_value());
    CHECK_FALSE(row.result.detail.empty());
    const json written = bench_envelope({row}, json::array(), output.at("context"));
    CHECK(written.at("rows")[0].at("passed") == false);
    CHECK(written.at("rows")[0].at("time_ms_median").is_null());
    CHECK(written.at("rows")[0].at("flop_per_s").is_null());
  }
  const BenchRow row = bench_rows(stage(1), {kPoint}, wrong).front();
  CHECK_THAT(bench_table({row}), ContainsSubstring("WRONG") && ContainsSubstring("o[0][0] = nan"));
}

TEST_CASE("what JSON does not have becomes null, and a text that is cut off is no object") {
  CHECK(benchmark_output("{\n\"a\": NaN,\n\"b\": -Infinity\n}\n") ==
        json{{"a", nullptr}, {"b", nullptr}});
  CHECK(benchmark_output("{\n\"a\": \"x\\\": NaN,\"\n}\n") == json{{"a", "x\": NaN,"}});
  CHECK_FALSE(benchmark_output("{\n\"a\": 1,\n").is_object());
  CHECK_FALSE(benchmark_output("").is_object());
}

TEST_CASE("a speedup is over the first stage that was measured on the same problem") {
  BenchPoint causal = kPoint, wide = kPoint;
  causal.mask = Mask::causal;
  wide.block_n = 64;
  BenchRow wrong = row_of("gpu", stage(1), {});
  std::vector<BenchRow> rows = {wrong,
                                row_of("gpu", stage(2), {40}),
                                row_of("gpu", stage(3), {80}),
                                row_of("gpu", stage(3), {100}, causal),
                                row_of("gpu", stage(4, 1), {10}, wide),
                                row_of("gpu", stage(4, 1), {25}, causal)};
  compare_stages(rows);
  CHECK_FALSE(rows[0].speedup.has_value());
  const std::vector<double> speedups = {1, 0.5, 4, 1, 4};
  for (std::size_t i = 0; i < speedups.size(); ++i) {
    CHECK(rows[i + 1].speedup == speedups[i]);
    CHECK(rows[i + 1].speedup_over == (i < 3 ? stage(2) : stage(3)).name);
  }
}

TEST_CASE("a result file of the CPU device has ratios and counts, and no times") {
  std::vector<BenchRow> rows = {row_of("cpu", stage(2), {40}), row_of("cpu", stage(3), {20})};
  compare_stages(rows);
  const json output = output_of("cpu", {});
  const json written = bench_envelope(rows, json::array({device_of(output)}), output.at("context"));
  for (const char* time : {"time_ms_median", "time_ms_smallest", "time_ms_largest", "flop_per_s"}) {
    CHECK(written.at("rows")[1].at(time).is_null());
  }
  CHECK(written.at("rows")[1].at("speedup") == 2);
  CHECK(written.at("rows")[1].at("counts").at("warp barriers") == 12);
  CHECK_THAT(bench_table(rows), ContainsSubstring("ratio") && !ContainsSubstring("speedup"));
  CHECK_THAT(bench_table(rows), !ContainsSubstring("median") && !ContainsSubstring("FLOP/s"));
}

TEST_CASE("a benchmark's result file is the envelope of all, and says how the library was built") {
  const json output = output_of("gpu", {});
  const json written = bench_envelope({row_of("gpu", stage(2), {40})},
                                      json::array({device_of(output)}), output.at("context"));
  CHECK(written.at("format") == envelope("run", {}, json::array()).at("format"));
  CHECK(written.at("kind") == "bench");
  for (const char* key : {"commit", "compiler", "flags", "cuda"}) {
    CHECK(written.at("build").contains(key));
  }
  CHECK(written.at("benchmark").at("version") == "1.7.1");
  CHECK(written.at("benchmark").at("library_build_type") == "debug");
  CHECK(written.at("devices")[0].at("description") == "9.0");
  CHECK(written.at("rows")[0].at("time_ms_median") == 0.04);
  CHECK(rows_of(written).front().time_ms == 0.04);
}

TEST_CASE("a benchmark's table fits 100 columns and says once what all rows share") {
  BenchPoint large = kPoint;
  large.n = 2048;
  std::vector<BenchRow> rows = {row_of("gpu", stage(2), {123456.7}),
                                row_of("gpu", stage(4, 2), {0.0001}, large)};
  rows[1].result.mask = "causal";
  rows[1].result.type = "bf16";
  const std::string gpu = bench_table(rows);
  check_width(gpu);
  CHECK_THAT(gpu, ContainsSubstring("NVIDIA H200, D 64, BN 32\n"));
  for (BenchRow& row : rows) {
    row.device = simt::DeviceKind::cpu;
    for (const char* one : {"launches", "async copies", "ldmatrix conflicts", "mma", "shuffles"}) {
      row.counts[one] = 123456789;
    }
  }
  const std::string cpu = bench_table(rows);
  check_width(cpu);
  CHECK_THAT(cpu, ContainsSubstring("123456789") && !ContainsSubstring("launches"));
  CHECK_THAT(cpu, !ContainsSubstring("GFLOP"));
}

}  // namespace workshop
