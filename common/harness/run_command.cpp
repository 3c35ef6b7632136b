// SPDX-License-Identifier: MIT
#include "common/harness/run_command.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "common/attention/whole_file.hpp"
#include "common/harness/build.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/process.hpp"
#include "common/harness/results.hpp"
#include "common/harness/run_request.hpp"
#include "common/harness/stage_choice.hpp"

namespace workshop {
namespace {

namespace fs = std::filesystem;

/// A device to run on.
struct Target {
  std::string suffix;  // of its programs: "_cpu" and, for a GPU, none
  int capability;
};

struct Case {
  const Stage* stage;
  RunRequest request;
  std::string suffix;

  std::string program() const { return std::string(stage->name) + suffix; }
};

std::vector<Target> targets(const RunRequest& request) {
  const Target cpu = {"_cpu", kAnyCapability};
  if (request.device == DeviceChoice::cpu) return {cpu};
  if (const auto capability = gpu_capability()) {
    const bool one = request.device == DeviceChoice::gpu || request.output;
    return one ? std::vector<Target>{{"", *capability}}
               : std::vector<Target>{cpu, {"", *capability}};
  }
  if (request.device == DeviceChoice::gpu) fail_without_gpu();
  return {cpu};
}

/// Without inputs of the reader's own: an attention head of a real model, in both types, and, where
/// the stage has it, with both masks.
std::vector<Case> real_cases(const Stage& stage, const RunRequest& request) {
  std::vector<Case> cases;
  for (const Mask mask : {Mask::none, Mask::causal}) {
    if (mask == Mask::none && request.mask == Mask::causal) continue;
    if (mask == Mask::causal && request.mask == Mask::none && !stage.promise.causal) continue;
    for (const char* type : {"f16", "bf16"}) {
      Case real{&stage, request, ""};
      real.request.mask = mask;
      real.request.qkv = fmt::format("{}/minilm_l0_h2_n{}_{}.safetensors", WORKSHOP_DATA_DIR,
                                     stage.promise.any_length ? 332 : 256, type);
      cases.push_back(real);
    }
  }
  return cases;
}

std::vector<const Stage*> chosen_stages(const CommandLine& line, int capability = kAnyCapability) {
  if (const Stage* one = chosen_stage(line, capability)) return {one};
  return all_stages(capability);
}

std::vector<Case> planned_cases(const CommandLine& line, const RunRequest& request,
                                int capability) {
  const std::vector<const Stage*> stages = chosen_stages(line, capability);
  std::vector<Case> cases;
  for (const Stage* stage : stages) {
    const auto of_stage =
        request.names_inputs ? std::vector{Case{stage, request, ""}} : real_cases(*stage, request);
    cases.insert(cases.end(), of_stage.begin(), of_stage.end());
  }
  if (request.output) {
    if (stages.size() != 1) {
      throw Refusal(fmt::format("--output '{}' for {} stages; allowed: with one STAGE",
                                *request.output, stages.size()));
    }
    cases.resize(1);  // of the real heads the first: FP16, and the mask asked for
  }
  return cases;
}

/// The cases of all devices: of each case one after the other. (All devices have as many: what a stage's
/// steps promise is the same.)
std::vector<Case> on_targets(const CommandLine& line, const RunRequest& request) {
  std::vector<std::vector<Case>> planned;
  for (const Target& target : targets(request)) {
    planned.push_back(planned_cases(line, request, target.capability));
    for (Case& one : planned.back()) one.suffix = target.suffix;
  }
  std::vector<Case> cases;
  for (std::size_t i = 0; i < planned.front().size(); ++i) {
    for (const std::vector<Case>& of_target : planned) cases.push_back(of_target.at(i));
  }
  return cases;
}

/// A folder of its own in the build folder for the programs' result files, gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() : path_(build_folder() / fmt::format("results-{}", getpid())) {
    fs::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// All that the programs have found so far.
struct Findings {
  std::vector<ResultRow> rows;
  nlohmann::json devices = nlohmann::json::array();
  int status = kAllRight;
};

void run_one(const Case& one, const ScratchFolder& scratch, Findings& findings) {
  const std::string program = one.program();
  const fs::path result = scratch.file(program + ".json");
  fs::remove(result);
  std::vector<std::string> command = {(program_folder() / program).string(), "--json",
                                      result.string()};
  const auto options = program_options(one.request);
  command.insert(command.end(), options.begin(), options.end());

  say(fmt::format("running {} on {}", program, input_name(one.request)));
  const int status = run_process(command, {.standard_output = StandardOutput::null});
  findings.status = std::max(findings.status, as_exit_status(status));
  if (!fs::exists(result)) {
    say(fmt::format("{} ended with status {} and without a result", program, status));
    return;
  }
  const auto json = nlohmann::json::parse(std::ifstream(result));
  for (const ResultRow& row : rows_of(json)) findings.rows.push_back(row);
  for (const auto& device : json.at("devices")) {
    if (std::find(findings.devices.begin(), findings.devices.end(), device) ==
        findings.devices.end()) {
      findings.devices.push_back(device);
    }
  }
}

/// `next` is the stage to read about.
std::string closing_line(const Stage& next, const Findings& findings) {
  if (findings.status != kAllRight) return "Not all is right: the lines above say what.";
  return fmt::format("{0} of {0} within the error bound. Read next: {1}/README.md",
                     findings.rows.size(), next.folder);
}

void print_list() {
  fmt::print("Programs, for a GPU and (suffix _cpu) for the CPU device:\n\n");
  for (const Stage& stage : kStages) {
    const Promise& promise = stage.promise;
    fmt::print("  {}, {}_cpu\n    {}\n    fp16, bf16; D 16, 32, 64; N {}; {}; block-n {}\n\n",
               stage.name, stage.name, stage.idea,
               promise.any_length ? "from 1 to 2048" : "a multiple of 32 up to 2048",
               promise.causal ? "no mask or causal" : "no mask",
               fmt::join(promise.block_n, " or "));
  }
  fmt::print("Input families (--input), and what each brings to light:\n\n");
  for (const InputFamily& family : input_families()) {
    fmt::print("  {:<16} {}\n", family.name, family.catches);
  }
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  CommandLine line("./workshop run",
                   "Runs the stages, on the CPU device and on a GPU where there is one, and checks "
                   "what they compute.");
  declare_stage_options(line, "which stage (all)");
  line.add_flag("--list", "print the programs with their promises, and the input families");
  declare_run_options(line);
  if (!line.parse(arguments)) return kAllRight;
  if (line.has("--list")) {
    if (arguments.size() > 1) line.refuse("--list", "alone, without other arguments");
    print_list();
    return kAllRight;
  }
  const RunRequest request = run_request(line);
  for (const Case& one : planned_cases(line, request, kAnyCapability)) {
    require_promised(one.request, load_inputs(one.request), *one.stage);
    if (request.json) require_result_file("--json", *request.json, one.request.qkv);
    if (request.output) require_result_file("--output", *request.output, one.request.qkv);
  }

  const std::vector<Case> cases = on_targets(line, request);
  std::vector<std::string> programs;
  for (const Case& one : cases) programs.push_back(one.program());
  build_targets(programs);

  const ScratchFolder scratch;
  Findings findings;
  for (const Case& one : cases) run_one(one, scratch, findings);
  fmt::print("{}\n{}\n", table(findings.rows), closing_line(*cases.front().stage, findings));
  if (request.json) write_results(*request.json, "run", findings.rows, findings.devices);
  return findings.status;
}

}  // namespace workshop
