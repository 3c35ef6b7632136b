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
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

struct DeviceComparison {
  std::string family;
  ElementType type;
  int n;
  Mask mask;
  int block_n;
};

constexpr int kHeadDim = 64;
constexpr int kSeed = 3;

/// What the program of the CPU device writes with --output.
Matrix<double> output_of_cpu_program(const Stage& stage, const DeviceComparison& one) {
  const TemporaryFolder folder;
  const std::string file = folder.file("o.safetensors");
  std::vector<std::string> words = {
      (program_folder() / (std::string(stage.name) + "_cpu")).string(),
      "--input",
      one.family,
      "--n",
      std::to_string(one.n),
      "--d",
      std::to_string(kHeadDim),
      "--seed",
      std::to_string(kSeed),
      "--dtype",
      std::string(name_of(one.type)),
      "--block-n",
      std::to_string(one.block_n),
      "--output",
      file};
  if (one.mask == Mask::causal) words.push_back("--causal");
  REQUIRE(run_process(words, {.standard_output = StandardOutput::null}) == 0);
  return numbers_from(read_safetensors(file), "o", file);
}

void check_agrees_with_cpu_program(const Contract& contract, const DeviceComparison& one) {
  const Inputs inputs = make_inputs(one.family, one.type, one.n, kHeadDim, kSeed);
  const auto o = DeviceCase(inputs, one.mask, one.block_n).run(contract.attention);
  check_within_twice_the_bound(widen(one.type, o), output_of_cpu_program(contract.stage, one),
                               inputs, one.mask);
}

}  // namespace

void check_agrees_with_cpu_program(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  const int n = contract.stage.promise.any_length ? 150 : 160;
  for (const char* family : {"normal", "large-channel"}) {
    for (const ElementType type : kTypes) {
      for (const Mask mask : masks_of(contract.stage)) {
        for (const int block_n : contract.stage.promise.block_n) {
          INFO(name_of_case(family, type, n, kHeadDim, mask, block_n));
          check_agrees_with_cpu_program(contract, {family, type, n, mask, block_n});
        }
      }
    }
  }
}

}  // namespace workshop
