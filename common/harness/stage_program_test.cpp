// SPDX-License-Identifier: MIT
/// @file
/// The harness itself: that a wrong result cannot pass, and that a refusal does nothing. The kernels
/// here are host code that writes into the CPU device's memory, each with one fault.
#include "common/harness/stage_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/planted_attention.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

int run(std::vector<std::string> arguments, int stage_number = 3) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return stage_program(int(pointers.size()), pointers.data(), stage(stage_number),
                       planted_attention);
}

int run_planted(Plant with) {
  plant = std::move(with);
  return run({"--n", "40", "--d", "16"});
}

void do_nothing(const AttentionProblem&, simt::Stream) {}

/// The right answer, and one bit of an input that a kernel may only read.
template <DeviceTensor<const void*> AttentionProblem::*kTensor>
void change_input(const AttentionProblem& problem, simt::Stream stream) {
  planted_attention(problem, stream);
  auto* last = static_cast<std::uint16_t*>(const_cast<void*>((problem.*kTensor).data)) +
               (problem.*kTensor).rows * (problem.*kTensor).cols - 1;
  *last ^= 1;
}

/// What a DeviceCase says of a kernel's faults.
std::string fault_of(AttentionFunction attention) {
  plant = {};
  try {
    DeviceCase(make_inputs("normal", ElementType::fp16, 40, 16, 1), Mask::none).run(attention);
  } catch (const simt::KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

}  // namespace

TEST_CASE("the right answer passes, and so does one that is off by half a bound") {
  CHECK(run_planted({}) == kAllRight);
  CHECK(run_planted({.spoil_values = [](Matrix<double>& o, const Expectation& expectation) {
          o(39, 15) += 0.4 * expectation.bound(39, 15);
        }}) == kAllRight);
}

TEST_CASE("one wrong element fails: NaN, infinity, off by three bounds, not written") {
  CHECK(run_planted({.spoil_values = [](Matrix<double>& o, const Expectation&) {
          o(7, 3) = std::nan("");
        }}) == kWrongResult);
  CHECK(run_planted({.spoil_values = [](Matrix<double>& o, const Expectation&) {
          o(39, 15) = std::numeric_limits<double>::infinity();
        }}) == kWrongResult);
  CHECK(run_planted({.spoil_values = [](Matrix<double>& o, const Expectation& expectation) {
          o(0, 0) -= 3 * expectation.bound(0, 0);
        }}) == kWrongResult);
  CHECK(run_planted({.spoil_memory = [](std::uint16_t* o, std::size_t count) {
          o[count - 1] = 0xffff;  // NaN, as the poison leaves it
        }}) == kWrongResult);
}

TEST_CASE("a touched guard word fails, before and after the array") {
  CHECK(run_planted({.spoil_memory = [](std::uint16_t* o, std::size_t) { o[-1] = 0; }}) ==
        kWrongResult);
  CHECK(run_planted({.spoil_memory = [](std::uint16_t* o, std::size_t count) { o[count] = 0; }}) ==
        kWrongResult);
}

TEST_CASE(
    "what an earlier launch left in o cannot pass for the answer of a kernel that does nothing") {
  for (const ElementType type : {ElementType::fp16, ElementType::bf16}) {
    plant = {};
    DeviceCase device_case(make_inputs("normal", type, 40, 16, 1), Mask::none);
    const auto right = widen(type, device_case.run(planted_attention)).values;
    CHECK(std::ranges::none_of(right, [](double value) { return std::isnan(value); }));
    const auto poison = widen(type, device_case.run(do_nothing)).values;
    CHECK(std::ranges::all_of(poison, [](double value) { return std::isnan(value); }));
  }
}

TEST_CASE("a kernel that gives other bits the next time is caught, even inside the bound") {
  CHECK(run_planted({.spoil_values = [](Matrix<double>& o, const Expectation& expectation) {
          if (plant.launches > 1) o(39, 15) += 0.4 * expectation.bound(39, 15);
        }}) == kWrongResult);
}

TEST_CASE("a kernel that changes q, k or v is caught, by name") {
  CHECK(fault_of(planted_attention) == "no fault");
  CHECK_THAT(fault_of(change_input<&AttentionProblem::q>), ContainsSubstring("changed q"));
  CHECK_THAT(fault_of(change_input<&AttentionProblem::k>), ContainsSubstring("changed k"));
  CHECK_THAT(fault_of(change_input<&AttentionProblem::v>), ContainsSubstring("changed v"));
}

TEST_CASE("a refusal launches nothing and writes nothing") {
  const TemporaryFolder folder;
  const std::string json = folder.file("table.json");
  const std::string output = folder.file("o.safetensors");
  plant = {};
  const std::vector<std::vector<std::string>> refused = {
      {"--n", "0"},        {"--n", "2049"},     {"--n", "-1"},
      {"--d", "48"},       {"--dtype", "f8"},   {"--input", "random"},
      {"--seed", "1.5"},   {"--block-n", "64"}, {"--block-n", "16"},
      {"--device", "tpu"}, {"--device", "gpu"}, {"--qkv", "no_such_file"},
      {"--what"},          {"stray"},           {"--n", "8", "--n", "8"}};
  for (std::vector<std::string> arguments : refused) {
    INFO(arguments.front() << " " << (arguments.size() > 1 ? arguments[1] : ""));
    for (const char* word : {"--json", json.c_str(), "--output", output.c_str()}) {
      arguments.push_back(word);
    }
    CHECK(run(arguments) == kRefused);
  }
  CHECK(run({"--n", "33", "--json", json}, 1) == kRefused);
  CHECK(run({"--causal", "--json", json}, 2) == kRefused);
  CHECK(run({"--qkv", "x", "--n", "32"}) == kRefused);
  CHECK(run({"--json", folder.file("none/table.json")}) == kRefused);
  CHECK(run({"--json", folder.path.string()}) == kRefused);
  CHECK(run({"--json", json, "--output", json}) == kRefused);
  CHECK(plant.launches == 0);
  CHECK(folder.count() == 0);
}

TEST_CASE("o and the table are written, and read back") {
  const TemporaryFolder folder;
  const std::string output = folder.file("o.safetensors");
  plant = {};
  CHECK(run({"--n", "40", "--d", "32", "--dtype", "bf16", "--causal", "--output", output, "--json",
             folder.file("table.json")}) == kAllRight);
  const Matrix<double> o = numbers_from(read_safetensors(output), "o", output);
  const Inputs inputs = make_inputs("normal", ElementType::bf16, 40, 32, 1);
  CHECK(compare(o, expect(inputs, Mask::causal)).passed);
  CHECK(std::filesystem::file_size(folder.file("table.json")) > 0);
}

TEST_CASE("the input is not overwritten by the output") {
  const TemporaryFolder folder;
  const std::string file = folder.file("qkv.safetensors");
  const Inputs inputs = make_inputs("normal", ElementType::fp16, 32, 16, 1);
  write_safetensors(file, {{"q", stored_tensor(inputs.type, inputs.q)},
                           {"k", stored_tensor(inputs.type, inputs.k)},
                           {"v", stored_tensor(inputs.type, inputs.v)}});
  plant = {};
  CHECK(run({"--qkv", file, "--output", file}) == kRefused);
  CHECK(run({"--qkv", file}) == kAllRight);
}

}  // namespace workshop
