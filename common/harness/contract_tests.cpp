// SPDX-License-Identifier: MIT
#include "common/harness/contract_tests.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/harness/catch.hpp"

namespace workshop {
namespace {

constexpr ElementType kTypes[] = {ElementType::fp16, ElementType::bf16};

/// Ends the test program where there is no GPU: ctest reads the line and counts the case as skipped.
void require_device() {
  try {
    simt::device_info();
  } catch (const simt::DeviceError& error) {
    fmt::print("skipped: no GPU ({})\n", error.what());
    std::exit(0);
  }
}

std::vector<Mask> masks_of(const Stage& stage) {
  if (stage.promise.causal) return {Mask::none, Mask::causal};
  return {Mask::none};
}

/// The lengths that a stage promises, of those given.
std::vector<int> lengths_of(const Stage& stage, const std::vector<int>& lengths) {
  std::vector<int> promised;
  for (const int n : lengths) {
    if (stage.promise.any_length || n % stage.promise.block_n.front() == 0) promised.push_back(n);
  }
  return promised;
}

std::string name_of_case(std::string_view family, ElementType type, int n, int d, Mask mask) {
  return fmt::format("{}, {}, N = {}, D = {}, {}", family, name_of(type), n, d,
                     mask == Mask::causal ? "causal" : "no mask");
}

/// Runs one case for every mask of the stage and compares it with the oracle.
void check_case(const Contract& contract, std::string_view family, ElementType type, int n, int d) {
  const Inputs inputs = make_inputs(family, type, n, d, std::uint64_t(n) * 64 + d);
  for (const Mask mask : masks_of(contract.stage)) {
    INFO(name_of_case(family, type, n, d, mask));
    const auto o = DeviceCase(inputs, mask).run(contract.attention);
    const Comparison comparison = compare(widen(type, o), expect(inputs, mask));
    INFO(describe(comparison));
    CHECK(comparison.passed);
  }
}

}  // namespace

void check_all_families(const Contract& contract) {
  require_device();
  const auto lengths = lengths_of(contract.stage, {32, 33, 65, 96, 129});
  for (const InputFamily& family : input_families()) {
    for (const ElementType type : kTypes) {
      for (const int d : kHeadDims) {
        for (const int n : lengths) check_case(contract, family.name, type, n, d);
      }
    }
  }
}

void check_every_short_length(const Contract& contract) {
  require_device();
  std::vector<int> lengths(130);
  for (int i = 0; i < 130; ++i) lengths[i] = i + 1;
  for (const int n : {160, 192, 256, 320, 512}) lengths.push_back(n);
  for (const int n : lengths_of(contract.stage, lengths)) {
    for (const ElementType type : kTypes) {
      for (const int d : kHeadDims) check_case(contract, "normal", type, n, d);
    }
  }
}

void check_longest_length(const Contract& contract) {
  require_device();
  for (const int n : lengths_of(contract.stage, {1023, 2047, 2048})) {
    check_case(contract, "normal", ElementType::fp16, n, 64);
    check_case(contract, "rising", ElementType::bf16, n, 16);
  }
}

void check_every_length(const Contract& contract) {
  require_device();
  for (int n = 1; n <= kMaxSeqLen; ++n) {
    if (!lengths_of(contract.stage, {n}).empty()) {
      check_case(contract, "normal", n % 2 ? ElementType::fp16 : ElementType::bf16, n, 16);
    }
  }
}

void check_single_element(const Contract& contract) {
  require_device();
  for (const ElementType type : kTypes) {
    for (const int d : kHeadDims) {
      const Inputs inputs = make_inputs("normal", type, 1, d, 3);
      for (const Mask mask : masks_of(contract.stage)) {
        INFO(name_of_case("normal", type, 1, d, mask));
        // p = exp(0) = 1 and l = 1: nothing is rounded on the way.
        CHECK(DeviceCase(inputs, mask).run(contract.attention) == inputs.v);
      }
    }
  }
}

void check_real_heads(const Contract& contract) {
  require_device();
  const std::vector<std::string> names =
      contract.stage.promise.any_length
          ? std::vector<std::string>{"l0_h2_n332_f16", "l0_h2_n332_bf16", "l1_h9_n332_bf16",
                                     "l5_h6_n332_f16"}
          : std::vector<std::string>{"l0_h2_n256_f16", "l0_h2_n256_bf16"};
  for (const std::string& name : names) {
    const std::string file = fmt::format("{}/minilm_{}.safetensors", WORKSHOP_DATA_DIR, name);
    const StoredTensors tensors = read_safetensors(file);
    const Inputs inputs = inputs_from(tensors, file);
    for (const Mask mask : masks_of(contract.stage)) {
      INFO(name << (mask == Mask::causal ? ", causal" : ", no mask"));
      // The file's own FP64 reference, which shares no code with the oracle.
      Expectation expectation = expect(inputs, mask);
      expectation.o =
          numbers_from(tensors, mask == Mask::causal ? "o_causal_f64" : "o_full_f64", file);
      const auto o = DeviceCase(inputs, mask).run(contract.attention);
      const Comparison comparison = compare(widen(inputs.type, o), expectation);
      INFO(describe(comparison));
      CHECK(comparison.passed);
    }
  }
}

namespace {

/// 64 equal rows over keys of two kinds: key 0 with score 0, so p = 1, and 63 keys whose p lies
/// 0.4 units in the last place above 1/2, so that rounding takes it down to 1/2. V is 1 everywhere.
Inputs inputs_that_tell_roundings_apart(ElementType type) {
  constexpr int kRows = 64;
  constexpr int kDim = 16;
  const double unit = unit_roundoff(type);  // the spacing of numbers in [1/2, 1)
  const double score = std::log(0.5 + 0.4 * unit);
  Matrix<double> q(kRows, kDim), k(kRows, kDim);
  for (int row = 0; row < kRows; ++row) {
    q(row, 0) = q(row, 1) = 4;  // 4 / sqrt(16) = 1: the score is k[0] + k[1], in twice the digits
    if (row == 0) continue;
    k(row, 0) = to_float(type, round_to(type, float(score)));
    k(row, 1) = score - k(row, 0);
  }
  return {type, round_matrix(type, q), round_matrix(type, k),
          round_matrix(type, Matrix<double>(kRows, kDim, 1.0))};
}

}  // namespace

void check_rounding_of_probabilities(const Contract& contract) {
  require_device();
  for (const ElementType type : kTypes) {
    INFO(name_of(type));
    const Inputs inputs = inputs_that_tell_roundings_apart(type);
    const auto o = widen(type, DeviceCase(inputs, Mask::none).run(contract.attention));
    // (1 + 63 / 2) / (1 + 63 (1/2 + 0.4 u)) = 1 - 0.775 u, which rounds to 1 - u. With p rounded in
    // both places, or in neither, or in l alone, o is 1 or more.
    for (const double value : o.values) REQUIRE(value == 1 - unit_roundoff(type));
  }
}

void check_repeats_bitwise(const Contract& contract) {
  require_device();
  const Inputs inputs = make_inputs("normal", ElementType::fp16, 128, 64, 7);
  for (const Mask mask : masks_of(contract.stage)) {
    DeviceCase device_case(inputs, mask);
    const auto first = device_case.run(contract.attention);
    for (int i = 0; i < 20; ++i) CHECK(device_case.run(contract.attention) == first);
  }
}

void check_future_is_invisible(const Contract& contract) {
  require_device();
  constexpr int kRows = 70;
  for (const ElementType type : kTypes) {
    const Inputs inputs = make_inputs("normal", type, kRows, 32, 11);
    const Inputs others = make_inputs("huge-v", type, kRows, 32, 12);
    const auto o = DeviceCase(inputs, Mask::causal).run(contract.attention);
    for (int prefix = 1; prefix < kRows; ++prefix) {
      Inputs changed = inputs;
      for (int row = prefix; row < kRows; ++row) {
        std::ranges::copy(others.k.row(row), changed.k.row(row).begin());
        std::ranges::copy(others.v.row(row), changed.v.row(row).begin());
      }
      const auto o_changed = DeviceCase(changed, Mask::causal).run(contract.attention);
      CAPTURE(prefix);
      for (int row = 0; row < prefix; ++row)
        REQUIRE(std::ranges::equal(o.row(row), o_changed.row(row)));
      // ... and the change was one: the last row sees it.
      REQUIRE_FALSE(std::ranges::equal(o.row(kRows - 1), o_changed.row(kRows - 1)));
    }
  }
}

void check_agrees_with(const Contract& contract, const Contract& previous) {
  require_device();
  for (const InputFamily& family : input_families()) {
    for (const ElementType type : kTypes) {
      INFO(name_of_case(family.name, type, 96, 32, Mask::none));
      const Inputs inputs = make_inputs(family.name, type, 96, 32, 5);
      DeviceCase device_case(inputs, Mask::none);
      const auto o = widen(type, device_case.run(contract.attention));
      const auto o_previous = widen(type, device_case.run(previous.attention));
      const Expectation expectation = expect(inputs, Mask::none);
      for (std::size_t i = 0; i < o.values.size(); ++i) {
        REQUIRE(std::abs(o.values[i] - o_previous.values[i]) <= 2 * expectation.bound.values[i]);
      }
    }
  }
}

void check_equals_bitwise(const Contract& contract, const Contract& previous) {
  require_device();
  for (const InputFamily& family : input_families()) {
    for (const ElementType type : kTypes) {
      for (const int d : kHeadDims) {
        INFO(name_of_case(family.name, type, 96, d, Mask::none));
        DeviceCase device_case(make_inputs(family.name, type, 96, d, 5), Mask::none);
        CHECK(device_case.run(contract.attention) == device_case.run(previous.attention));
      }
    }
  }
}

namespace {

/// A change to a good problem, and what the refusal must say.
struct BadProblem {
  const char* says;
  void (*spoil)(AttentionProblem&);
};

void set_length(AttentionProblem& problem, std::int64_t n) {
  problem.q.rows = problem.k.rows = problem.v.rows = problem.o.rows = n;
}

void set_head_dim(AttentionProblem& problem, std::int64_t d) {
  problem.q.cols = problem.k.cols = problem.v.cols = problem.o.cols = d;
}

template <typename Pointer>
Pointer moved_by(Pointer data, std::ptrdiff_t bytes) {
  return reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(data) + bytes);
}

constexpr BadProblem kBadProblems[] = {
    {"2048", [](AttentionProblem& p) { set_length(p, 0); }},
    {"2049", [](AttentionProblem& p) { set_length(p, 2049); }},
    {"4294967328", [](AttentionProblem& p) { set_length(p, (std::int64_t(1) << 32) + 32); }},
    {"16, 32", [](AttentionProblem& p) { set_head_dim(p, 8); }},
    {"48", [](AttentionProblem& p) { set_head_dim(p, 48); }},
    {"128", [](AttentionProblem& p) { set_head_dim(p, 128); }},
    {"k", [](AttentionProblem& p) { p.k.rows = 32; }},
    {"v", [](AttentionProblem& p) { p.v.rows = 32; }},
    {"o", [](AttentionProblem& p) { p.o.rows = 32; }},
    {"v", [](AttentionProblem& p) { p.v.cols = 16; }},
    {"q", [](AttentionProblem& p) { p.q.data = nullptr; }},
    {"o", [](AttentionProblem& p) { p.o.data = nullptr; }},
    {"16", [](AttentionProblem& p) { p.k.data = moved_by(p.k.data, 2); }},
    {"16", [](AttentionProblem& p) { p.o.data = moved_by(p.o.data, 8); }},
    {"fp16", [](AttentionProblem& p) { p.type = static_cast<ElementType>(7); }},
    {"48", [](AttentionProblem& p) { p.block_n = 48; }},
};

/// The launcher must say no, in words that hold `says`, and leave o alone.
void check_refused(const Contract& contract, const AttentionProblem& good, const BadProblem& bad) {
  constexpr std::size_t kBytes = 64 * 32 * sizeof(std::uint16_t);
  simt::Buffer o(kBytes);
  o.fill(0xff);
  AttentionProblem problem = good;
  problem.o.data = o.data();
  bad.spoil(problem);
  INFO("a refusal that says " << bad.says);
  CHECK_THROWS_AS(contract.attention(problem, nullptr), Refusal);
  CHECK_THROWS_WITH(contract.attention(problem, nullptr), ContainsSubstring(bad.says));
  simt::synchronize();
  std::vector<unsigned char> bytes(kBytes);
  o.download(bytes.data());
  CHECK(std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0xff; }));
}

}  // namespace

void check_refusals(const Contract& contract) {
  require_device();
  DeviceCase good(make_inputs("normal", ElementType::fp16, 64, 32, 1), Mask::none);
  for (const BadProblem& bad : kBadProblems) check_refused(contract, good.problem(), bad);

  const Promise& promise = contract.stage.promise;
  if (!promise.causal) {
    check_refused(contract, good.problem(),
                  {"stage3_masking", [](AttentionProblem& p) { p.mask = Mask::causal; }});
  }
  if (!promise.any_length) {
    check_refused(contract, good.problem(),
                  {"stage3_masking", [](AttentionProblem& p) { set_length(p, 33); }});
  }
  if (std::ranges::find(promise.block_n, 64) == promise.block_n.end()) {
    check_refused(contract, good.problem(),
                  {"stage 4", [](AttentionProblem& p) { p.block_n = 64; }});
  }
}

}  // namespace workshop
