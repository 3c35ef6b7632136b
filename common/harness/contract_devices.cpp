// SPDX-License-Identifier: MIT
/// @file
/// The part of contract_tests.hpp that compares two devices: this one, and the CPU device's program.
#include <string>
#include <vector>

#include "common/attention/safetensors.hpp"
#include "common/harness/build.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#include "common/harness/process.hpp"
#include "common/harness/require_device.hpp"
#include "common/harness/run_request.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

/// What the program of the CPU device writes with --output.
Matrix<double> output_of_cpu_program(const Stage& stage, RunRequest request) {
  const TemporaryFolder folder;
  const std::string file = folder.file("o.safetensors");
  request.output = file;
  std::vector<std::string> words = program_options(request);
  words.insert(words.begin(), (program_folder() / (std::string(stage.name) + "_cpu")).string());
  REQUIRE(run_process(words, {.standard_output = StandardOutput::null}) == 0);
  return numbers_from(read_safetensors(file), "o", file);
}

void check_agrees_with_cpu_program(const Contract& contract, const RunRequest& request) {
  const Inputs inputs = load_inputs(request);
  const auto o = DeviceCase(inputs, request.mask, request.block_n).run(contract.attention);
  check_within_twice_the_bound(
      widen(inputs.type, o), output_of_cpu_program(contract.stage, request), inputs, request.mask);
}

}  // namespace

void check_agrees_with_cpu_program(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  const int n = contract.stage.promise.any_length ? 150 : 160;
  for (const char* family : {"normal", "large-channel"}) {
    for (const ElementType type : kTypes) {
      for (const Mask mask : masks_of(contract.stage)) {
        for (const int block_n : contract.stage.promise.block_n) {
          INFO(name_of_case(family, type, n, 64, mask, block_n));
          check_agrees_with_cpu_program(
              contract,
              {.input = family, .n = n, .d = 64, .type = type, .mask = mask, .block_n = block_n});
        }
      }
    }
  }
}

}  // namespace workshop
