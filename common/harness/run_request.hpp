// SPDX-License-Identifier: MIT
/// @file
/// The options that `./workshop run` and every stage's program share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/attention/inputs.hpp"
#include "common/attention/problem.hpp"
#include "common/attention/stages.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/device_choice.hpp"

namespace workshop {

/// What the options of a run ask for.
struct RunRequest {
  std::optional<std::string> qkv = {};  // a file; otherwise inputs are generated from the next five
  std::string input = "normal";
  int n = 256;
  int d = 64;
  ElementType type = ElementType::fp16;
  std::uint64_t seed = 1;

  Mask mask = Mask::none;
  int block_n = 32;
  DeviceChoice device = DeviceChoice::automatic;
  std::optional<std::string> output = {};  // a file for o
  std::optional<std::string> json = {};    // a file for the table

  bool names_inputs = false;  // the reader chose the inputs, by either way
};

void declare_run_options(CommandLine& line);

/// @throws Refusal for a value that no stage takes, options that exclude each other, or a file that
///         could not be written
RunRequest run_request(const CommandLine& line);

/// The options of a request, as one of the stages' programs takes them; without --device and --json.
std::vector<std::string> program_options(const RunRequest& request);

/// Reads or generates the inputs, and checks their values.
/// @throws Refusal
Inputs load_inputs(const RunRequest& request);

/// "minilm_l0_h2_n256_f16.safetensors", or "normal, seed 1".
std::string input_name(const RunRequest& request);

/// @throws Refusal unless `stage` promises the request on such inputs
void require_promised(const RunRequest& request, const Inputs& inputs, const Stage& stage);

/// @throws Refusal unless `option`'s file can be written and is not the `input`
void require_result_file(const std::string& option, const std::string& file,
                         const std::optional<std::string>& input);

}  // namespace workshop
