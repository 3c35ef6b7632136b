// SPDX-License-Identifier: MIT
#include "common/harness/run_request.hpp"

#include <filesystem>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "common/attention/safetensors.hpp"
#include "common/attention/whole_file.hpp"

namespace workshop {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGeneratedOptions[] = {"--n", "--d", "--dtype", "--input", "--seed"};

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const InputFamily& family : input_families()) names.push_back(family.name);
  return names;
}

/// What names the inputs: a file, or generated ones; never both.
void read_input_options(const CommandLine& line, RunRequest& request) {
  request.qkv = line.value("--qkv");
  request.names_inputs = request.qkv.has_value();
  for (const char* option : kGeneratedOptions) {
    if (!line.has(option)) continue;
    if (request.qkv) {
      throw Refusal(
          fmt::format("{} '{}' beside --qkv '{}'; allowed: a file or generated inputs, "
                      "not both",
                      option, *line.value(option), *request.qkv));
    }
    request.names_inputs = true;
  }
  request.n = int(line.number("--n", 1, kMaxSeqLen).value_or(request.n));
  request.d = std::stoi(line.choice("--d", {"16", "32", "64"}).value_or("64"));
  const std::string type = line.choice("--dtype", {"fp16", "bf16"}).value_or("fp16");
  request.type = type == "fp16" ? ElementType::fp16 : ElementType::bf16;
  request.input = line.choice("--input", family_names()).value_or(request.input);
  request.seed = line.number("--seed", 0, UINT64_MAX).value_or(request.seed);
}

bool same_file(const std::string& a, const std::string& b) {
  return fs::weakly_canonical(fs::absolute(a)) == fs::weakly_canonical(fs::absolute(b));
}

void read_output_options(const CommandLine& line, RunRequest& request) {
  request.output = line.value("--output");
  request.json = line.value("--json");
  if (request.output) require_result_file("--output", *request.output, request.qkv);
  if (request.json) require_result_file("--json", *request.json, request.qkv);
  if (request.output && request.json && same_file(*request.output, *request.json)) {
    throw Refusal(
        fmt::format("--output and --json both name '{}'; allowed: two files", *request.json));
  }
}

}  // namespace

void declare_run_options(CommandLine& line) {
  line.add_option("--qkv", "Q, K, V from a file", "a safetensors file with q, k, v [N,D]");
  line.add_option("--n", "length of generated inputs (256)", "a whole number from 1 to 2048");
  line.add_option("--d", "head dimension of generated inputs (64)", "16, 32, 64");
  line.add_option("--dtype", "type of generated inputs (fp16)", "fp16, bf16");
  line.add_option("--input", "family of generated inputs (normal)", "a name of `run --list`");
  line.add_option("--seed", "seed of generated inputs (1)", "a whole number below 2^64");
  line.add_flag("--causal", "a row sees itself and what is before it");
  line.add_option("--block-n", "keys a tile holds (32)", "32, 64");
  declare_device_option(line);
  line.add_option("--output", "write o as safetensors", "a file name");
  line.add_option("--json", "write the table as JSON", "a file name");
}

RunRequest run_request(const CommandLine& line) {
  RunRequest request;
  read_input_options(line, request);
  request.mask = line.has("--causal") ? Mask::causal : Mask::none;
  request.block_n = std::stoi(line.choice("--block-n", {"32", "64"}).value_or("32"));
  request.device = device_choice(line);
  read_output_options(line, request);
  return request;
}

std::vector<std::string> program_options(const RunRequest& request) {
  std::vector<std::string> options;
  const auto add = [&](const std::string& name, const std::string& value) {
    options.push_back(name);
    options.push_back(value);
  };
  if (request.qkv) {
    add("--qkv", *request.qkv);
  } else {
    add("--n", std::to_string(request.n));
    add("--d", std::to_string(request.d));
    add("--dtype", std::string(name_of(request.type)));
    add("--input", request.input);
    add("--seed", std::to_string(request.seed));
  }
  add("--block-n", std::to_string(request.block_n));
  if (request.mask == Mask::causal) options.push_back("--causal");
  if (request.output) add("--output", *request.output);
  return options;
}

Inputs load_inputs(const RunRequest& request) {
  const Inputs inputs =
      request.qkv ? inputs_from(read_safetensors(*request.qkv), *request.qkv)
                  : make_inputs(request.input, request.type, request.n, request.d, request.seed);
  require_finite(inputs);
  return inputs;
}

std::string input_name(const RunRequest& request) {
  if (request.qkv) return fs::path(*request.qkv).filename().string();
  return fmt::format("{}, seed {}", request.input, request.seed);
}

void require_promised(const RunRequest& request, const Inputs& inputs, const Stage& stage) {
  require_promised(inputs.type, request.mask, inputs.seq_len(), inputs.head_dim(), request.block_n,
                   stage);
}

void require_result_file(const std::string& option, const std::string& file,
                         const std::optional<std::string>& input) {
  require_writable(option, file);
  if (input && same_file(file, *input)) {
    throw Refusal(fmt::format("{} '{}' is the input; allowed: another file", option, file));
  }
}

}  // namespace workshop
