// SPDX-License-Identifier: MIT
#include "common/harness/bench_results.hpp"

#include <algorithm>
#include <regex>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "common/harness/bench_case.hpp"

namespace workshop {
namespace {

using nlohmann::json;

/// What Google Benchmark wrote of one row: each repetition is an entry.
std::vector<json> entries_of(const std::string& name, const json& output) {
  std::vector<json> entries;
  for (const json& entry : output.value("benchmarks", json::array())) {
    // Behind our name the library puts settings of its own: ".../iterations:1/manual_time".
    const bool ours = entry.value("run_name", "").starts_with(name + "/");
    if (ours && entry.value("run_type", "") == "iteration") entries.push_back(entry);
  }
  return entries;
}

void read_times(const std::vector<json>& entries, BenchRow& row) {
  constexpr double kMillisecond = 1e-3;  // in the library's times, which are microseconds
  std::vector<double> times;
  for (const json& entry : entries) times.push_back(entry.at("real_time").get<double>());
  std::ranges::sort(times);
  row.fastest_ms = times.front() * kMillisecond;
  row.slowest_ms = times.back() * kMillisecond;
  row.result.time_ms = times[times.size() / 2] * kMillisecond;
  row.result.repeats = int(times.size());
}

void read_counters(const json& entry, BenchRow& row) {
  row.result.error_share = entry.at("error_share_of_bound").get<double>();
  row.launches_per_time = entry.at("launches_per_time").get<int>();
  for (const auto& [key, value] : entry.items()) {
    if (key.starts_with(kCountPrefix)) {
      row.counts[key.substr(kCountPrefix.size())] = value.get<std::uint64_t>();
    }
  }
}

/// Why a row has no time; empty if it has one.
std::string error_of(const std::vector<json>& entries) {
  if (entries.empty()) return "the program ended before this row";
  for (const json& entry : entries) {
    if (entry.value("error_occurred", false))
      return entry.value("error_message", "no reason given");
  }
  return "";
}

BenchRow bench_row(const Stage& stage, const BenchPoint& point, const json& output) {
  const json device = device_of(output);
  BenchRow row{
      .result = {.stage = std::string(stage.name),
                 .device = device.at("name"),
                 .input = kBenchInput,
                 .n = point.n,
                 .d = point.d,
                 .type = std::string(name_of(point.type)),
                 .mask = std::string(name_of(point.mask)),
                 .block_n = point.block_n},
      .flops = flops(point),
      .bytes = compulsory_bytes(point),
      .device = device.at("kind") == "gpu" ? simt::DeviceKind::gpu : simt::DeviceKind::cpu};
  const std::vector<json> entries = entries_of(bench_name(stage, point), output);
  row.result.detail = error_of(entries);
  row.result.passed = row.result.detail.empty();
  if (row.result.passed) {
    read_times(entries, row);
    read_counters(entries.front(), row);
  }
  return row;
}

auto problem_of(const BenchRow& row) {
  // "none" stands before "causal", and "fp16" before "bf16", as in the grid.
  return std::tuple(row.result.mask == "causal", row.result.d, row.result.type == "bf16",
                    row.result.n);
}

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

json row_json(const BenchRow& row) {
  json value = row_json(row.result);
  const bool on_gpu = row.device == simt::DeviceKind::gpu;
  if (!on_gpu) value["time_ms_median"] = nullptr;
  value["time_ms_smallest"] = number_or_null(on_gpu ? row.fastest_ms : std::nullopt);
  value["time_ms_largest"] = number_or_null(on_gpu ? row.slowest_ms : std::nullopt);
  value["flop_per_s"] = number_or_null(row.flop_per_s());
  value["flops"] = row.flops;
  value["bytes"] = row.bytes;
  value["launches_per_time"] = row.launches_per_time;
  value["counts"] = row.counts;
  value["speedup"] = number_or_null(row.speedup);
  value["speedup_over"] = row.speedup_over;
  return value;
}

}  // namespace

std::optional<double> BenchRow::flop_per_s() const {
  if (!result.time_ms || device == simt::DeviceKind::cpu) return std::nullopt;
  return flops / (*result.time_ms / 1000);
}

json benchmark_output(const std::string& text) {
  static const std::regex kNoNumber(R"((": )-?(?:NaN|Infinity)(,?\n))");
  return json::parse(std::regex_replace(text, kNoNumber, "$1null$2"), nullptr,
                     /*allow_exceptions=*/false);
}

std::vector<BenchRow> bench_rows(const Stage& stage, const std::vector<BenchPoint>& points,
                                 const json& output) {
  std::vector<BenchRow> rows;
  for (const BenchPoint& point : points) rows.push_back(bench_row(stage, point, output));
  return rows;
}

void compare_stages(std::vector<BenchRow>& rows) {
  std::ranges::stable_sort(rows, {}, problem_of);
  const BenchRow* first = nullptr;
  for (BenchRow& row : rows) {
    if (!row.result.time_ms) continue;
    if (first == nullptr || problem_of(*first) != problem_of(row)) first = &row;
    row.speedup = *first->result.time_ms / *row.result.time_ms;
    row.speedup_over = first->result.stage;
  }
}

json device_of(const json& output) {
  const json& context = output.at("context");
  return {{"kind", context.at("device_kind")},
          {"name", context.at("device_name")},
          {"description", context.at("device_description")}};
}

json bench_envelope(const std::vector<BenchRow>& rows, const json& devices, const json& context) {
  json row_list = json::array();
  for (const BenchRow& row : rows) row_list.push_back(row_json(row));
  json envelope = envelope_around("bench", row_list, devices);
  envelope["benchmark"] = {{"library", "Google Benchmark"},
                           {"version", context.at("benchmark_version")},
                           {"library_build_type", context.at("library_build_type")}};
  return envelope;
}

}  // namespace workshop
