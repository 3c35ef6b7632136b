// SPDX-License-Identifier: MIT
#include "common/harness/bench_program.hpp"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/harness/bench_case.hpp"
#include "common/harness/bench_grid.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/exit_status.hpp"

namespace workshop {
namespace {

/// How the time of one launch is found on a device.
struct Timing {
  int launches;       // between two events, so that their resolution does not count
  int repetitions;    // each gives the mean of its launches; reported is the median of all
  double min_time;    // seconds that the iterations of a repetition take at least
  double warm_up_ms;  // of launches before a row: a device that was idle raises its clocks slowly
};

Timing timing_on(simt::DeviceKind device) {
  if (device == simt::DeviceKind::cpu) {
    return {.launches = 1, .repetitions = 5, .min_time = 0.02, .warm_up_ms = 0};
  }
  // An iteration counts as one launch and makes 100: a repetition takes at least 20 ms of device time.
  return {.launches = 100, .repetitions = 7, .min_time = 0.0002, .warm_up_ms = 200};
}

/// The rows of one program. Google Benchmark calls a row's function several times, first to find how
/// many iterations it needs and then for each repetition; the row is made and judged once.
class BenchRun {
 public:
  BenchRun(const Stage& stage, AttentionFunction attention, std::vector<BenchPoint> points,
           const Timing& timing)
      : stage_(stage), attention_(attention), points_(std::move(points)), timing_(timing) {}

  void register_rows() {
    for (std::size_t row = 0; row < points_.size(); ++row) {
      auto* const benchmark = benchmark::RegisterBenchmark(
          bench_name(stage_, points_[row]).c_str(),
          [this, row](benchmark::State& state) { measure(state, row); });
      benchmark->UseManualTime()->Unit(benchmark::kMicrosecond)->MinTime(timing_.min_time);
    }
  }

  int status() const { return status_; }

 private:
  /// Whatever goes wrong becomes the row's error; the first error decides the exit status.
  void measure(benchmark::State& state, std::size_t row) {
    try {
      prepare(row);
      if (error_.empty()) time_launches(state);
    } catch (const simt::KernelFault& fault) {
      fail(fault.what(), kWrongResult);
    } catch (const std::exception& error) {
      fail(error.what(), kFailed);
    }
    if (!error_.empty()) state.SkipWithError(error_.c_str());
  }

  void prepare(std::size_t row) {
    if (row == row_) return;
    row_ = row;
    error_.clear();
    case_.reset();
    say(fmt::format("{} of {}: {}", row + 1, points_.size(), bench_name(stage_, points_[row])));
    case_ = std::make_unique<BenchCase>(points_[row], attention_);
    if (timing_.warm_up_ms > 0) {
      case_->time_ms(int(timing_.warm_up_ms / case_->time_ms(timing_.launches)) + 1);
    }
  }

  void time_launches(benchmark::State& state) {
    while (state.KeepRunning()) {
      state.SetIterationTime(case_->time_ms(timing_.launches) / 1000);
    }
    set_counters(state);
  }

  void set_counters(benchmark::State& state) const {
    const double work = flops(points_[row_]);
    state.counters["error_share_of_bound"] = case_->error_share();
    state.counters["flops"] = work;
    state.counters["bytes"] = compulsory_bytes(points_[row_]);
    state.counters["launches_per_time"] = timing_.launches;
    if (simt::device_kind() == simt::DeviceKind::gpu) {
      state.counters["flop_per_s"] =
          benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
    }
    for (const auto& [name, count] : case_->counts()) {
      state.counters[fmt::format("{}{}", kCountPrefix, name)] = double(count);
    }
  }

  void fail(const char* what, ExitStatus status) {
    error_ = what;
    if (status_ == kAllRight) status_ = status;
  }

  const Stage& stage_;
  AttentionFunction attention_;
  std::vector<BenchPoint> points_;
  Timing timing_;
  std::size_t row_ = std::size_t(-1);  // the one that case_ is of
  std::unique_ptr<BenchCase> case_;
  std::string error_;  // of this row
  int status_ = kAllRight;
};

/// What a result file says of where the numbers come from, beside what the library says itself.
void add_context() {
  const simt::DeviceInfo device = simt::device_info();
  benchmark::AddCustomContext("device_kind", device.kind == simt::DeviceKind::gpu ? "gpu" : "cpu");
  benchmark::AddCustomContext("device_name", device.name);
  benchmark::AddCustomContext("device_description", device.description);
  benchmark::AddCustomContext("benchmark_version", WORKSHOP_BENCHMARK_VERSION);
}

/// Takes out and returns the arguments that Google Benchmark understands.
std::vector<std::string> split_off_library_options(std::vector<std::string>& arguments) {
  const auto ours = std::stable_partition(
      arguments.begin(), arguments.end(),
      [](const std::string& argument) { return !argument.starts_with("--benchmark_"); });
  std::vector<std::string> library(ours, arguments.end());
  arguments.erase(ours, arguments.end());
  return library;
}

/// @param program  its name, which the library keeps a pointer to
/// @param options  they follow our defaults, so that they win
void initialize_library(char* program, const std::vector<std::string>& options,
                        const Timing& timing) {
  std::vector<std::string> words = {fmt::format("--benchmark_repetitions={}", timing.repetitions),
                                    "--benchmark_display_aggregates_only=true"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> pointers = {program};
  for (std::string& word : words) pointers.push_back(word.data());
  int count = int(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) {
    throw Refusal(
        fmt::format("argument '{}' is not known; allowed: the options that Google "
                    "Benchmark documents",
                    pointers[1]));
  }
}

int run_benchmarks(char* program, std::vector<std::string> arguments, const Stage& stage,
                   AttentionFunction attention) {
  const auto library_options = split_off_library_options(arguments);
  CommandLine line(std::string(stage.name) + " benchmark",
                   "Times the stage on a grid of problems, and checks every result that it times. "
                   "Options of Google Benchmark (--benchmark_...) are taken as well.");
  declare_grid_options(line);
  if (!line.parse(std::move(arguments))) return kAllRight;
  const auto points = required_points(bench_grid(line, simt::device_kind()), stage);
  const Timing timing = timing_on(simt::device_kind());
  initialize_library(program, library_options, timing);
  add_context();
  BenchRun run(stage, attention, points, timing);
  run.register_rows();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  return run.status();
}

}  // namespace

int bench_program(int argc, char** argv, const Stage& stage, AttentionFunction attention) {
  return run_program([&] {
    return run_benchmarks(argv[0], {argv + 1, argv + argc}, stage, attention);
  });
}

}  // namespace workshop
