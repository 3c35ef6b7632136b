// SPDX-License-Identifier: MIT
/// @file
/// `./workshop check` on files right and wrong, what `run` and `check` refuse, and how errors end.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/device/device.hpp"
#include "common/harness/bench_command.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/run_command.hpp"
#include "common/harness/stage_choice.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

constexpr int kRows = 40;
constexpr int kCols = 16;

/// A safetensors file with q, k, v and an o of one's choice, in a folder of its own.
class CheckedFile {
 public:
  /// @returns what `check` ends with
  int check(const StoredTensor& o, std::vector<std::string> options = {}) const {
    write_safetensors(path(), {{"q", stored_tensor(inputs_.type, inputs_.q)},
                               {"k", stored_tensor(inputs_.type, inputs_.k)},
                               {"v", stored_tensor(inputs_.type, inputs_.v)},
                               {"o", o}});
    options.insert(options.begin(), path());
    return check_command(options);
  }
  std::string path(const std::string& name = "attention.safetensors") const {
    return folder_.file(name);
  }
  const Inputs& inputs() const { return inputs_; }

 private:
  TemporaryFolder folder_;
  Inputs inputs_ = make_inputs("normal", ElementType::fp16, kRows, kCols, 5);
};

template <typename T>
StoredTensor numbers(const std::string& dtype, const Matrix<double>& values) {
  StoredTensor tensor{.dtype = dtype, .shape = {values.rows, values.cols}, .bytes = {}};
  const std::vector<T> converted(values.values.begin(), values.values.end());
  tensor.bytes.resize(converted.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), converted.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace

TEST_CASE("check passes the right o in every type, under the mask it was made with") {
  const CheckedFile file;
  const auto full = expect(file.inputs(), Mask::none).o;
  const auto causal = expect(file.inputs(), Mask::causal).o;
  CHECK(file.check(numbers<double>("F64", full)) == kAllRight);
  CHECK(file.check(numbers<float>("F32", full)) == kAllRight);
  CHECK(file.check(stored_tensor(ElementType::fp16, round_matrix(ElementType::fp16, full))) ==
        kAllRight);
  CHECK(file.check(numbers<double>("F64", causal), {"--causal"}) == kAllRight);
  CHECK(file.check(numbers<double>("F64", full), {"--causal"}) == kWrongResult);
  CHECK(file.check(numbers<double>("F64", causal)) == kWrongResult);
  // Rounded to BF16, eight times as coarse as the inputs' FP16 allows.
  CHECK(file.check(stored_tensor(ElementType::bf16, round_matrix(ElementType::bf16, full))) ==
        kWrongResult);
}

TEST_CASE("check fails one wrong element, and its JSON says so") {
  const CheckedFile file;
  const Expectation expectation = expect(file.inputs(), Mask::none);
  Matrix<double> o = expectation.o;
  o(kRows - 1, kCols - 1) += 3 * expectation.bound(kRows - 1, kCols - 1);
  CHECK(file.check(numbers<double>("F64", o), {"--json", file.path("verdict.json")}) ==
        kWrongResult);
  const auto json = nlohmann::json::parse(std::ifstream(file.path("verdict.json")));
  CHECK(json.at("kind") == "check");
  CHECK(json.at("rows")[0].at("passed") == false);
  CHECK_THAT(json.at("rows")[0].at("detail").get<std::string>(), ContainsSubstring("o[39][15]"));
  o(kRows - 1, kCols - 1) = std::nan("");
  CHECK(file.check(numbers<double>("F64", o)) == kWrongResult);
}

TEST_CASE("check refuses what is no attention, and names of stages") {
  const CheckedFile file;
  const auto o = numbers<double>("F64", expect(file.inputs(), Mask::none).o);
  CHECK_THROWS_AS(file.check(numbers<double>("F64", Matrix<double>(kRows + 1, kCols))), Refusal);
  CHECK_THROWS_WITH(file.check(o, {"--json", file.path()}), ContainsSubstring("is the input"));
  CHECK_THROWS_AS(file.check(o, {"--mask"}), Refusal);
  CHECK_THROWS_AS(check_command({}), Refusal);
  CHECK_THROWS_AS(check_command({file.path("none")}), Refusal);
  for (const char* name : {"2", "17", "stage3", "stage9", "stage1_single_tile"}) {
    CHECK_THROWS_WITH(check_command({name}), ContainsSubstring(std::string("./") + name));
  }
  CHECK_THROWS_WITH(check_command({"./2"}), ContainsSubstring("there is no such file"));
}

TEST_CASE("a stage is named by its number, its short name or its folder") {
  for (const char* name : {"3", "stage3", "stage3_masking", "stage3_masking/"}) {
    CHECK(stage_named(name).number == 3);
  }
  for (const char* name : {"stage4_tuning/step1_tile_width", "stage4_tuning/step1_tile_width/",
                           "step1_tile_width", "stage4_tuning_step1", "4.1"}) {
    CHECK(&stage_named(name) == &stage(4, 1));
  }
  for (const char* name :
       {"", "0", "5", "03", "3.1", "4.0", "4.9", "stage", "stage33", "masking", "Stage3"}) {
    INFO("'" << name << "'");
    CHECK_THROWS_WITH(stage_named(name), ContainsSubstring("3 or stage3_masking"));
  }
}

TEST_CASE("of a stage with steps one is named by --step, and alone it means the last") {
  for (const char* name : {"4", "stage4", "stage4_tuning", "stage4_tuning/"}) {
    CHECK(&stage_named(name) == &*std::prev(std::end(kStages)));
    CHECK(&stage_named(name, 1) == &stage(4, 1));
    CHECK_THROWS_WITH(stage_named(name, 99),
                      ContainsSubstring("--step '99'") && ContainsSubstring("4 with --step 1"));
    CHECK_THROWS_AS(stage_named(name, 0), Refusal);
  }
  for (const char* name : {"3", "stage1", "stage4_tuning_step1", "step1_tile_width"}) {
    CHECK_THROWS_WITH(stage_named(name, 1), ContainsSubstring("4 with --step 1"));
  }
}

TEST_CASE("on an older GPU a stage alone means the last of its steps that runs there") {
  CHECK(&stage_named("4", {}, 75) == &stage(4, 2));
  CHECK(all_stages(75).back() == &stage(4, 2));
  CHECK(&stage_named("4", 3, 75) == &stage(4, 3));  // asked for by name: its program will refuse
  CHECK(&stage_named("step3_tensor_cores", {}, 75) == &stage(4, 3));
  CHECK(&stage_named("4", {}, 80) == &stage_named("4"));
}

TEST_CASE("all stages are each stage once, of one with steps the last") {
  const std::vector<const Stage*> stages = all_stages();
  REQUIRE(stages.size() == 4);
  for (int i = 0; i < 3; ++i) CHECK(stages[i] == &stage(i + 1));
  CHECK(stages[3] == &stage_named("4"));
}

TEST_CASE("run refuses before it builds or launches") {
  const std::vector<std::vector<std::string>> refused = {
      {"7"},
      {"stage1", "--n", "33"},
      {"2", "--causal"},
      {"--n", "33"},
      {"3", "--block-n", "64"},
      {"--block-n", "64"},
      {"4", "--block-n", "48"},
      {"--step", "1"},
      {"3", "--step", "1"},
      {"4", "--step", "99"},
      {"4", "--step", "01"},
      {"4", "--step", "18446744073709551617"},
      {"--list", "9"},
      {"3", "--n", "32", "--output", "--json"},
      {"--output", "o.safetensors"},
      {"1", "2"},
      {"3", "--qkv", "none.safetensors"},
      {"3", "--qkv", "x", "--seed", "1"},
      {"3", "--json", "no/such/folder/table.json"}};
  for (const auto& arguments : refused) {
    INFO(arguments.front() << " " << arguments.back());
    CHECK_THROWS_AS(run_command(arguments), Refusal);
  }
}

TEST_CASE("bench refuses before it builds or launches, and leaves an older result as it is") {
  const TemporaryFolder folder;
  const std::string older = folder.file("older.json");
  std::ofstream(older) << "older";
  const std::vector<std::vector<std::string>> refused = {{"7"},
                                                         {"--step", "1"},
                                                         {"4", "--step", "99"},
                                                         {"1", "--n", "33"},
                                                         {"2", "--mask", "causal"},
                                                         {"3", "--block-n", "64"},
                                                         {"--n", "2049"},
                                                         {"--device", "tpu"},
                                                         {"--dtype", "fp8"},
                                                         {"--what"}};
  for (std::vector<std::string> arguments : refused) {
    INFO(arguments.front() << " " << arguments.back());
    arguments.insert(arguments.end(), {"--output", older});
    CHECK_THROWS_AS(bench_command(arguments), Refusal);
  }
  CHECK_THROWS_AS(bench_command({"--output", folder.file("none/results.json")}), Refusal);
  CHECK_THROWS_AS(bench_command({"--output", folder.path.string()}), Refusal);
  CHECK(folder.count() == 1);
  std::string kept;
  std::ifstream(older) >> kept;
  CHECK(kept == "older");
}

TEST_CASE("every kind of error ends with its status") {
  CHECK(run_program([] { return int(kAllRight); }) == kAllRight);
  CHECK(run_program([]() -> int { throw Refusal("no"); }) == kRefused);
  CHECK(run_program([]() -> int { throw simt::KernelFault("race"); }) == kWrongResult);
  CHECK(run_program([]() -> int { throw simt::DeviceError("gone"); }) == kFailed);
  CHECK(run_program([]() -> int { throw std::runtime_error("disk"); }) == kFailed);
}

}  // namespace workshop
