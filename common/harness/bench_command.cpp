// SPDX-License-Identifier: MIT
#include "common/harness/bench_command.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/harness/bench_grid.hpp"
#include "common/harness/bench_results.hpp"
#include "common/harness/bench_table.hpp"
#include "common/harness/build.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/device_choice.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/process.hpp"
#include "common/harness/run_request.hpp"
#include "common/harness/stage_choice.hpp"

namespace workshop {
namespace {

using nlohmann::json;

/// One program to run, and the rows that it owes.
struct Plan {
  const Stage* stage;
  std::string program;
  std::vector<BenchPoint> points;
};

/// All that the programs have found so far.
struct Findings {
  std::vector<BenchRow> rows;
  json devices = json::array();
  json context;
  int status = kAllRight;
};

/// @param capability  of the GPU; none for the CPU device
std::vector<Plan> plans(const CommandLine& line, std::optional<int> capability) {
  const BenchGrid grid =
      bench_grid(line, capability ? simt::DeviceKind::gpu : simt::DeviceKind::cpu);
  const auto program = [&](const Stage& stage) {
    return std::string(stage.name) + (capability ? "_bench" : "_cpu_bench");
  };
  const int most = capability.value_or(kAnyCapability);
  if (const Stage* one = chosen_stage(line, most)) {
    return {{one, program(*one), required_points(grid, *one)}};
  }
  std::vector<Plan> plans;
  for (const Stage& stage : kStages) {
    Plan plan{&stage, program(stage), bench_points(grid, stage)};
    if (stage.compute_capability <= most && !plan.points.empty()) plans.push_back(plan);
  }
  return plans;
}

/// The GPU that programs run on, if the reader's choice and the machine give one.
std::optional<int> chosen_gpu(DeviceChoice choice) {
  if (choice == DeviceChoice::cpu) return std::nullopt;
  const auto capability = gpu_capability();
  if (choice == DeviceChoice::gpu && !capability) fail_without_gpu();
  return capability;
}

/// Runs a benchmark; its progress goes to stderr.
/// @returns what it wrote: an object, or something else if it did not get to its end
json run_program_of(const Plan& plan, const CommandLine& line, Findings& findings) {
  std::vector<std::string> command = {(program_folder() / plan.program).string()};
  const auto axes = grid_arguments(line);
  command.insert(command.end(), axes.begin(), axes.end());
  command.insert(command.end(),
                 {"--benchmark_format=json", "--benchmark_display_aggregates_only=false"});
  say(fmt::format("running {}", plan.program));
  std::string output;
  const int status =
      run_process(command, {.on_line = [&](const std::string& text) { output += text + "\n"; }});
  findings.status = std::max(findings.status, as_exit_status(status));
  const json result = benchmark_output(output);
  if (!result.is_object()) {
    findings.status = std::max(findings.status, int(kFailed));
    say(fmt::format("{} ended with status {} and without a result", plan.program, status));
  }
  return result;
}

void run_one(const Plan& plan, const CommandLine& line, Findings& findings) {
  const json output = run_program_of(plan, line, findings);
  if (!output.is_object()) return;
  for (const BenchRow& row : bench_rows(*plan.stage, plan.points, output)) {
    if (!row.result.passed) findings.status = std::max(findings.status, int(kWrongResult));
    findings.rows.push_back(row);
  }
  findings.context = output.at("context");
  findings.devices = json::array({device_of(output)});
}

/// The driver and the clocks right after the measurements, for whoever compares two result files.
void add_clocks(json& device) {
  constexpr const char* kQuery = "driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit";
  std::vector<std::string> lines;
  run_process({"nvidia-smi", fmt::format("--query-gpu={}", kQuery), "--format=csv,noheader"},
              {.on_line = [&](const std::string& text) { lines.push_back(text); }});
  if (!lines.empty()) device["nvidia_smi"] = {{"query", kQuery}, {"answer", lines.front()}};
}

std::string closing_lines(const Findings& findings) {
  if (findings.status != kAllRight) return "Not all is right: the lines above say what.\n";
  const bool on_gpu = findings.rows.front().device == simt::DeviceKind::gpu;
  return wrapped(
      fmt::format("{0} of {0} rows within the error bound. {1}"
                  "What is timed and counted: docs/benchmarks.md\n",
                  findings.rows.size(),
                  on_gpu ? ""
                         : "On the CPU device only ratios and counts are reported: how "
                           "long it takes to imitate a kernel says nothing about a GPU. "));
}

void declare_options(CommandLine& line) {
  declare_stage_options(line, "which stage (all, with all steps)");
  declare_device_option(line);
  declare_grid_options(line);
  line.add_option("--output", "write the rows as JSON", "a file name");
}

}  // namespace

int bench_command(const std::vector<std::string>& arguments) {
  CommandLine line("./workshop bench",
                   "Times stages and their steps on a grid of problems, on a GPU if there is one, "
                   "and checks every result that it times.");
  declare_options(line);
  if (!line.parse(arguments)) return kAllRight;
  const DeviceChoice choice = device_choice(line);
  const auto file = line.value("--output");
  if (file) require_result_file("--output", *file, std::nullopt);
  plans(line, std::nullopt);  // refuses before a GPU is looked for

  const auto gpu = chosen_gpu(choice);
  const std::vector<Plan> planned = plans(line, gpu);
  std::vector<std::string> programs;
  for (const Plan& plan : planned) programs.push_back(plan.program);
  build_targets(programs);

  Findings findings;
  for (const Plan& plan : planned) run_one(plan, line, findings);
  if (findings.rows.empty()) return findings.status;
  compare_stages(findings.rows);
  fmt::print("{}\n{}", bench_table(findings.rows), closing_lines(findings));
  if (file) {
    if (gpu) add_clocks(findings.devices.front());
    write_envelope(*file, bench_envelope(findings.rows, findings.devices, findings.context));
  }
  return findings.status;
}

}  // namespace workshop
