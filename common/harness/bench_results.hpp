// SPDX-License-Identifier: MIT
/// @file
/// What benchmarks found: rows from what Google Benchmark wrote, their ratios, and a result file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/device/device.hpp"
#include "common/harness/bench_grid.hpp"
#include "common/harness/results.hpp"

namespace workshop {

/// A row of the table and of the result file: what was measured, and what it is compared with.
struct BenchRow {
  ResultRow result;  // its time is the median of the repetitions
  double flops = 0;  // of one launch, by the convention of bench_grid.hpp
  double bytes = 0;  // that any kernel must move
  std::optional<double> fastest_ms = {};
  std::optional<double> slowest_ms = {};
  int launches_per_time = 0;                         // a time is the mean of so many
  std::map<std::string, std::uint64_t> counts = {};  // of one launch, by operation; none on a GPU
  std::optional<double> speedup = {};                // over the first row of the same problem
  std::string speedup_over = {};                     // that row's stage
  simt::DeviceKind device = simt::DeviceKind::cpu;

  /// None on the CPU device: how long it takes to imitate a kernel is no speed.
  std::optional<double> flop_per_s() const;
};

/// What a program wrote by --benchmark_format=json. Google Benchmark writes NaN and Infinity, which
/// JSON does not have: they become null.
/// @returns an object, or something else if the text does not come to its end
nlohmann::json benchmark_output(const std::string& text);

/// The rows of one program, one a point; a row that its output lacks has failed.
/// @param output  an object that benchmark_output() gave
std::vector<BenchRow> bench_rows(const Stage& stage, const std::vector<BenchPoint>& points,
                                 const nlohmann::json& output);

/// Sorts the rows of several stages by problem, the stages in their order, and sets the speedups: the
/// time of the first row with the same N, D, type and mask, divided by this row's.
void compare_stages(std::vector<BenchRow>& rows);

/// { "kind", "name", "description" }, as Google Benchmark's context has it from the program.
nlohmann::json device_of(const nlohmann::json& output);

/// The envelope of all result files, with the rows and with what Google Benchmark says of itself. On
/// the CPU device ratios and counts stand in it, and no times.
/// @param context  of one of the programs' outputs
nlohmann::json bench_envelope(const std::vector<BenchRow>& rows, const nlohmann::json& devices,
                              const nlohmann::json& context);

}  // namespace workshop
