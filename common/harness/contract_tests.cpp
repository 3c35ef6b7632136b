// SPDX-License-Identifier: MIT
#include "common/harness/contract_tests.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/require_device.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

/// Runs one case for every mask and tile width of the stage and compares it with the oracle.
void check_case(const Contract& contract, std::string_view family, ElementType type, int n, int d) {
  const Inputs inputs = make_inputs(family, type, n, d, std::uint64_t(n) * 64 + d);
  for (const Mask mask : masks_of(contract.stage)) {
    const Expectation expectation = expect(inputs, mask);
    for (const int block_n : contract.stage.promise.block_n) {
      INFO(name_of_case(family, type, n, d, mask, block_n));
      const auto o = DeviceCase(inputs, mask, block_n).run(contract.attention);
      const Comparison comparison = compare(widen(type, o), expectation);
      INFO(describe(comparison));
      CHECK(comparison.passed);
    }
  }
}

}  // namespace

void check_all_families(const Contract& contract) {
  require_device(contract.stage.compute_capability);
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
  require_device(contract.stage.compute_capability);
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
  require_device(contract.stage.compute_capability);
  for (const int n : lengths_of(contract.stage, {1023, 2047, 2048})) {
    check_case(contract, "normal", ElementType::fp16, n, 64);
    check_case(contract, "rising", ElementType::bf16, n, 16);
  }
}

void check_every_length(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  for (int n = 1; n <= kMaxSeqLen; ++n) {
    if (!lengths_of(contract.stage, {n}).empty()) {
      check_case(contract, "normal", n % 2 ? ElementType::fp16 : ElementType::bf16, n, 16);
    }
  }
}

void check_single_element(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  for (const ElementType type : kTypes) {
    for (const int d : kHeadDims) {
      const Inputs inputs = make_inputs("normal", type, 1, d, 3);
      for (const Mask mask : masks_of(contract.stage)) {
        for (const int block_n : contract.stage.promise.block_n) {
          INFO(name_of_case("normal", type, 1, d, mask, block_n));
          // p = exp(0) = 1 and l = 1: nothing is rounded on the way.
          CHECK(DeviceCase(inputs, mask, block_n).run(contract.attention) == inputs.v);
        }
      }
    }
  }
}

void check_real_heads(const Contract& contract) {
  require_device(contract.stage.compute_capability);
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
      // The file's own FP64 reference, which shares no code with the oracle.
      Expectation expectation = expect(inputs, mask);
      expectation.o =
          numbers_from(tensors, mask == Mask::causal ? "o_causal_f64" : "o_full_f64", file);
      for (const int block_n : contract.stage.promise.block_n) {
        INFO(name << ", mask " << name_of(mask) << ", block_n " << block_n);
        const auto o = DeviceCase(inputs, mask, block_n).run(contract.attention);
        const Comparison comparison = compare(widen(inputs.type, o), expectation);
        INFO(describe(comparison));
        CHECK(comparison.passed);
      }
    }
  }
}

namespace {

/// 64 equal rows over keys of two kinds: key 0 with score 0, so p = 1, and 63 keys whose p lies
/// `above` units in the last place above 1/2. V is -5 for key 0 and 1 for the others.
Inputs inputs_that_tell_roundings_apart(ElementType type, double above) {
  constexpr int kRows = 64;
  constexpr int kDim = 16;
  const double unit = unit_roundoff(type);  // the spacing of numbers in [1/2, 1)
  const double score = std::log(0.5 + above * unit);
  Matrix<double> q(kRows, kDim), k(kRows, kDim), v(kRows, kDim, 1.0);
  std::ranges::fill(v.row(0), -5);
  for (int row = 0; row < kRows; ++row) {
    q(row, 0) = q(row, 1) = 4;  // 4 / sqrt(16) = 1: the score is k[0] + k[1], in twice the digits
    if (row == 0) continue;
    k(row, 0) = to_float(type, round_to(type, float(score)));
    k(row, 1) = score - k(row, 0);
  }
  return {type, round_matrix(type, q), round_matrix(type, k), round_matrix(type, v)};
}

/// o of a right kernel on these inputs, in units u of its last place:
///
///     o = (63 p - 5) / (63 p + 1), p rounded above and not below, is near 26.5 / 32.5 = 0.815. There
///     a p that is x u larger adds 63/32.5 x = 1.94 x units above, and takes 1.58 x away below.
///
///     | rounds p to               | 0.4 above: FP16   BF16  | 0.6 above: FP16   BF16  |
///     |---------------------------|-------------------------|-------------------------|
///     | nearest, in PV alone      |       1669.28   208.11  |       1670.90   209.72  | right
///     | nowhere                   |       1670.05   208.88  |       1670.12   208.95  |
///     | nearest, in PV and l      |       1669.91   208.74  |       1670.27   209.09  |
///     | nearest, in l alone       |       1670.68   209.51  |       1669.49   208.32  |
///     | down (truncated), in PV   |          (nearest)      |       1668.96   207.79  |
///     | up, in PV                 |       1671.21   210.04  |          (nearest)      |
///
/// Each wrong way ends at another whole number than the right one.
struct RoundingCase {
  double above;
  int fp16;
  int bf16;
};

constexpr RoundingCase kRoundingCases[] = {{0.4, 1669, 208}, {0.6, 1671, 210}};

}  // namespace

void check_rounding_of_probabilities(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  for (const ElementType type : kTypes) {
    for (const RoundingCase& rounding : kRoundingCases) {
      const Inputs inputs = inputs_that_tell_roundings_apart(type, rounding.above);
      const int units = type == ElementType::fp16 ? rounding.fp16 : rounding.bf16;
      for (const int block_n : contract.stage.promise.block_n) {
        INFO(name_of(type) << ", p is " << rounding.above << " units above 1/2, block_n "
                           << block_n);
        const auto o = widen(type, DeviceCase(inputs, Mask::none, block_n).run(contract.attention));
        for (const double value : o.values) REQUIRE(value == units * unit_roundoff(type));
      }
    }
  }
}

void check_repeats_bitwise(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  const int launches = simt::device_kind() == simt::DeviceKind::gpu ? 200 : 20;
  const Inputs inputs = make_inputs("normal", ElementType::fp16, 128, 64, 7);
  for (const Mask mask : masks_of(contract.stage)) {
    for (const int block_n : contract.stage.promise.block_n) {
      DeviceCase device_case(inputs, mask, block_n);
      const auto first = device_case.run(contract.attention);
      for (int i = 1; i < launches; ++i) CHECK(device_case.run(contract.attention) == first);
    }
  }
}

namespace {

void check_future_is_invisible(const Contract& contract, ElementType type, int d, int block_n) {
  constexpr int kRows = 70;
  const Inputs inputs = make_inputs("normal", type, kRows, d, 11);
  const Inputs others = make_inputs("huge-v", type, kRows, d, 12);
  const auto o = DeviceCase(inputs, Mask::causal, block_n).run(contract.attention);
  Inputs changed = others;  // K and V from the prefix on, which grows
  changed.q = inputs.q;
  for (int prefix = 1; prefix < kRows; ++prefix) {
    std::ranges::copy(inputs.k.row(prefix - 1), changed.k.row(prefix - 1).begin());
    std::ranges::copy(inputs.v.row(prefix - 1), changed.v.row(prefix - 1).begin());
    const auto o_changed = DeviceCase(changed, Mask::causal, block_n).run(contract.attention);
    INFO(name_of_case("normal", type, kRows, d, Mask::causal, block_n) << ", prefix " << prefix);
    REQUIRE(first_rows(o, prefix) == first_rows(o_changed, prefix));
    // ... and the change was one: the last row sees it.
    REQUIRE_FALSE(std::ranges::equal(o.row(kRows - 1), o_changed.row(kRows - 1)));
  }
}

}  // namespace

void check_future_is_invisible(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  for (const ElementType type : kTypes) {
    for (const int d : kHeadDims) {
      for (const int block_n : contract.stage.promise.block_n) {
        check_future_is_invisible(contract, type, d, block_n);
      }
    }
  }
}

namespace {

/// Calls `check(family, inputs, mask)` on what the stage takes of full tiles, one, three and eight of
/// them, and of ragged lengths.
template <typename Check>
void for_neighbours(const Stage& stage, const Check& check) {
  for (const InputFamily& family : input_families()) {
    for (const ElementType type : kTypes) {
      for (const auto& [n, d] :
           {std::pair{32, 16}, {256, 16}, {96, 32}, {77, 32}, {32, 64}, {96, 64}, {150, 64}}) {
        if (lengths_of(stage, {n}).empty()) continue;
        const Inputs inputs = make_inputs(family.name, type, n, d, 5);
        for (const Mask mask : masks_of(stage)) check(family.name, inputs, mask);
      }
    }
  }
}

std::string name_of_case(std::string_view family, const Inputs& inputs, Mask mask, int block_n) {
  return name_of_case(family, inputs.type, inputs.seq_len(), inputs.head_dim(), mask, block_n);
}

}  // namespace

void check_within_twice_the_bound(const Matrix<double>& a, const Matrix<double>& b,
                                  const Inputs& inputs, Mask mask) {
  REQUIRE(a.values.size() == b.values.size());
  const Expectation expectation = expect(inputs, mask);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]);
    if (!(difference <= 2 * expectation.bound.values[i])) ++apart;
  }
  CHECK(apart == 0);
}

void check_agrees_with(const Contract& contract, const Contract& previous) {
  require_device(contract.stage.compute_capability);
  for_neighbours(previous.stage, [&](std::string_view family, const Inputs& inputs, Mask mask) {
    for (const int block_n : previous.stage.promise.block_n) {
      INFO(name_of_case(family, inputs, mask, block_n));
      DeviceCase device_case(inputs, mask, block_n);
      check_within_twice_the_bound(widen(inputs.type, device_case.run(contract.attention)),
                                   widen(inputs.type, device_case.run(previous.attention)), inputs,
                                   mask);
    }
  });
}

void check_equals_bitwise(const Contract& contract, const Contract& previous) {
  require_device(contract.stage.compute_capability);
  for_neighbours(previous.stage, [&](std::string_view family, const Inputs& inputs, Mask mask) {
    for (const int block_n : previous.stage.promise.block_n) {
      INFO(name_of_case(family, inputs, mask, block_n));
      DeviceCase device_case(inputs, mask, block_n);
      CHECK(device_case.run(contract.attention) == device_case.run(previous.attention));
    }
  });
}

void check_widths_agree(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  const auto widths = contract.stage.promise.block_n;
  for_neighbours(contract.stage, [&](std::string_view family, const Inputs& inputs, Mask mask) {
    const auto run = [&](int block_n) {
      return widen(inputs.type, DeviceCase(inputs, mask, block_n).run(contract.attention));
    };
    for (const int block_n : widths.subspan(1)) {
      INFO(name_of_case(family, inputs, mask, block_n));
      check_within_twice_the_bound(run(block_n), run(widths.front()), inputs, mask);
    }
  });
}

}  // namespace workshop
