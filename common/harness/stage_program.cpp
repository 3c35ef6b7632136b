// SPDX-License-Identifier: MIT
#include "common/harness/stage_program.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/attention/whole_file.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/results.hpp"
#include "common/harness/run_request.hpp"

namespace workshop {
namespace {

/// The median of a few launches: enough for a first impression, within about a second. Each must give
/// the bits of the launch that was judged.
void time_launches(DeviceCase& device_case, AttentionFunction attention,
                   const Matrix<std::uint16_t>& judged, ResultRow& row) {
  constexpr int kMostRepeats = 5;
  constexpr double kBudgetMs = 1000;
  std::vector<double> times;
  double total = 0;
  while (int(times.size()) < kMostRepeats && (times.empty() || total < kBudgetMs)) {
    const DeviceCase::Outcome outcome = device_case.timed_run(attention);
    if (outcome.o != judged) {
      row.passed = false;
      row.detail += "two launches on the same inputs gave different bits";
      return;
    }
    times.push_back(outcome.time_ms);
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  row.time_ms = times[times.size() / 2];
  row.repeats = int(times.size());
}

/// Runs and judges. A fault of the kernel is a wrong result, and the row says which.
ResultRow run_case(const RunRequest& request, const Inputs& inputs, const Stage& stage,
                   AttentionFunction attention, Matrix<std::uint16_t>& o) {
  ResultRow row{.stage = std::string(stage.name),
                .device = simt::device_info().name,
                .input = input_name(request),
                .n = inputs.seq_len(),
                .d = inputs.head_dim(),
                .type = std::string(name_of(inputs.type)),
                .mask = std::string(name_of(request.mask)),
                .block_n = request.block_n};
  try {
    DeviceCase device_case(inputs, request.mask, request.block_n);
    o = device_case.run(attention);
    const Comparison comparison = compare(widen(inputs.type, o), expect(inputs, request.mask));
    row.error_share = comparison.worst_share;
    row.passed = comparison.passed;
    if (!row.passed) row.detail = describe(comparison);
    time_launches(device_case, attention, o, row);
  } catch (const simt::KernelFault& fault) {
    row.passed = false;
    row.detail = fault.what();
  }
  return row;
}

void require_this_device(const RunRequest& request, const Stage& stage) {
  const bool on_gpu = simt::device_kind() == simt::DeviceKind::gpu;
  if (request.device == DeviceChoice::gpu && !on_gpu) {
    throw Refusal(
        fmt::format("--device 'gpu': this is the CPU device's program; allowed: auto, "
                    "cpu, or the program {}",
                    stage.name));
  }
  if (request.device == DeviceChoice::cpu && on_gpu) {
    throw Refusal(
        fmt::format("--device 'cpu': this is the GPU's program; allowed: auto, gpu, or "
                    "the program {}_cpu",
                    stage.name));
  }
}

int run_stage(std::vector<std::string> arguments, const Stage& stage, AttentionFunction attention) {
  const std::string step = stage.step == 0 ? "" : fmt::format(", step {}", stage.step);
  CommandLine line(std::string(stage.name),
                   fmt::format("Stage {}{}: {}", stage.number, step, stage.idea));
  declare_run_options(line);
  if (!line.parse(std::move(arguments))) return kAllRight;
  const RunRequest request = run_request(line);
  const Inputs inputs = load_inputs(request);
  require_promised(request, inputs, stage);
  require_this_device(request, stage);

  Matrix<std::uint16_t> o;
  const ResultRow row = run_case(request, inputs, stage, attention, o);
  fmt::print("{}", table({row}));
  if (request.output && o.rows > 0) {
    write_safetensors(*request.output, {{"o", stored_tensor(inputs.type, o)}});
  }
  if (request.json) write_results(*request.json, "run", {row}, device_json());
  return row.passed ? kAllRight : kWrongResult;
}

}  // namespace

int stage_program(int argc, char** argv, const Stage& stage, AttentionFunction attention) {
  return run_program([&] { return run_stage({argv + 1, argv + argc}, stage, attention); });
}

}  // namespace workshop
