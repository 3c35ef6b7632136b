// SPDX-License-Identifier: MIT
/// @file
/// That the input families have teeth: a plain tiled kernel with one bug at a time, each bug caught by
/// the family that claims to catch it, and the kernel without a bug passing them all.

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "common/attention/error_bound.hpp"
#include "common/attention/inputs.hpp"
#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kTile = 32;

enum class Bug {
  none,
  scale_forgotten,
  causal_off_by_one,
  row_sum_in_16_bits,
  no_max,
  a_not_rescaled,
  l_not_rescaled,
  old_max_forgotten,
  max_begun_at_zero,
  padding_counted,
  finite_sentinel,
  tile_max,
  last_key_dropped,
  last_key_counted_twice,
  lanes_missing_from_max,
  scores_in_16_bits,
  output_in_16_bits,
  subnormals_flushed,
  keys_of_v_exchanged,
  columns_cut_to_16,
};

/// Attention by tiles of 32 keys in FP32, with p and o rounded to the input type, and one bug.
class BuggyKernel {
 public:
  BuggyKernel(const Inputs& inputs, Mask mask, Bug bug)
      : type_(inputs.type),
        mask_(mask),
        bug_(bug),
        q_(widen<float>(type_, inputs.q)),
        k_(widen<float>(type_, inputs.k)),
        v_(widen<float>(type_, inputs.v)) {}

  Matrix<double> run() const {
    Matrix<double> o(q_.rows, q_.cols);
    for (int row = 0; row < q_.rows; ++row) run_row(row, o);
    return o;
  }

 private:
  using Tile = std::vector<float>;  // [kTile]

  struct State {
    float m, l;
    std::vector<float> a;  // [D]
  };

  bool has(Bug bug) const { return bug_ == bug; }

  float rounded(float value) const { return to_float(type_, round_to(type_, value)); }

  float score(int row, int key) const {
    if (key >= q_.rows) return has(Bug::padding_counted) ? 0 : -kInfinity;
    if (has(Bug::last_key_dropped) && key == q_.rows - 1 && key > 0) return -kInfinity;
    const int last_visible = has(Bug::causal_off_by_one) ? row + 1 : row;
    if (mask_ == Mask::causal && key > last_visible) {
      return has(Bug::finite_sentinel) ? -1e4f : -kInfinity;
    }
    float dot = 0;
    for (int d = 0; d < q_.cols; ++d) dot += q_(row, d) * k_(key, d);
    const float scaled = has(Bug::scale_forgotten) ? dot : dot * float(1 / std::sqrt(q_.cols));
    return has(Bug::scores_in_16_bits) ? rounded(scaled) : scaled;
  }

  float next_max(float old_max, const Tile& scores) const {
    if (has(Bug::no_max)) return 0;
    const int lanes = has(Bug::lanes_missing_from_max) ? 8 : kTile;
    const float tile_max = *std::max_element(scores.begin(), scores.begin() + lanes);
    if (has(Bug::tile_max) || has(Bug::old_max_forgotten)) return tile_max;
    return std::max(old_max, tile_max);
  }

  /// A value of V, 0 in the padding.
  float value(int key, int col) const {
    if (has(Bug::columns_cut_to_16)) col %= 16;
    if (has(Bug::keys_of_v_exchanged) && (key ^ 1) < v_.rows) key ^= 1;
    return key < v_.rows ? v_(key, col) : 0;
  }

  float probability(float score, float max) const {
    const float p = rounded(std::exp(score - max));
    return has(Bug::subnormals_flushed) && p < 0x1p-14f ? 0 : p;
  }

  void take_tile(State& state, const Tile& scores, int first_key) const {
    const float new_max = next_max(state.m, scores);
    const float alpha = has(Bug::old_max_forgotten) ? 1 : std::exp(state.m - new_max);
    if (!has(Bug::l_not_rescaled)) state.l *= alpha;
    for (float& a : state.a) a *= has(Bug::a_not_rescaled) ? 1 : alpha;
    for (int j = 0; j < kTile; ++j) {
      state.l += std::exp(scores[j] - new_max);
      if (has(Bug::row_sum_in_16_bits)) state.l = rounded(state.l);
      const float p = probability(scores[j], new_max);
      const int copies = has(Bug::last_key_counted_twice) && first_key + j == v_.rows - 1 ? 2 : 1;
      for (int col = 0; col < v_.cols; ++col) {
        float& a = state.a[col];
        a += copies * p * value(first_key + j, col);
        if (has(Bug::output_in_16_bits)) a = rounded(a);
      }
    }
    state.m = new_max;
  }

  void run_row(int row, Matrix<double>& o) const {
    const bool zero = has(Bug::max_begun_at_zero) || has(Bug::no_max);
    State state{zero ? 0 : -kInfinity, 0, std::vector<float>(v_.cols, 0)};
    for (int first_key = 0; first_key < k_.rows; first_key += kTile) {
      Tile scores(kTile);
      for (int j = 0; j < kTile; ++j) scores[j] = score(row, first_key + j);
      take_tile(state, scores, first_key);
    }
    for (int col = 0; col < v_.cols; ++col) o(row, col) = rounded(state.a[col] / state.l);
  }

  ElementType type_;
  Mask mask_;
  Bug bug_;
  Matrix<float> q_, k_, v_;  // [N][D]
};

Comparison judge(Bug bug, const Inputs& inputs, Mask mask) {
  return compare(BuggyKernel(inputs, mask, bug).run(), expect(inputs, mask));
}

/// A family, the bug that it is there for, and a size at which the bug can show.
struct Case {
  std::string_view family;
  Bug bug;
  ElementType type = ElementType::fp16;
  int seq_len = 97;
  Mask mask = Mask::none;
};

constexpr Case kCases[] = {
    {"normal", Bug::scale_forgotten},
    {"normal", Bug::scale_forgotten, ElementType::bf16},
    {"normal", Bug::causal_off_by_one, ElementType::fp16, 97, Mask::causal},
    {"normal", Bug::causal_off_by_one, ElementType::bf16, 97, Mask::causal},
    {"uniform-logits", Bug::row_sum_in_16_bits, ElementType::bf16, 300},
    {"large-logits", Bug::no_max},
    {"rising", Bug::a_not_rescaled},
    {"rising", Bug::l_not_rescaled},
    {"rising", Bug::a_not_rescaled, ElementType::bf16, 97, Mask::causal},
    {"rising", Bug::l_not_rescaled, ElementType::bf16, 97, Mask::causal},
    {"falling", Bug::old_max_forgotten},
    {"low-scores", Bug::max_begun_at_zero},
    {"low-scores", Bug::no_max},
    {"low-scores", Bug::padding_counted, ElementType::fp16, 33},
    {"equal-low", Bug::finite_sentinel, ElementType::fp16, 33, Mask::causal},
    {"equal-low", Bug::finite_sentinel, ElementType::bf16, 33, Mask::causal},
    {"high-then-zero", Bug::tile_max},
    {"last-key", Bug::last_key_dropped, ElementType::fp16, 33},
    {"last-key", Bug::last_key_dropped, ElementType::bf16, 97, Mask::causal},
    {"one-hot-key", Bug::lanes_missing_from_max, ElementType::fp16, 64},
    {"large-channel", Bug::scores_in_16_bits},
    {"large-channel", Bug::scores_in_16_bits, ElementType::bf16},
    {"huge-v", Bug::output_in_16_bits},
    {"subnormal-p", Bug::subnormals_flushed},
    {"identity-v", Bug::keys_of_v_exchanged},
    {"column-pattern", Bug::columns_cut_to_16},
    {"cancelling-v", Bug::last_key_counted_twice},
    {"cancelling-v", Bug::last_key_counted_twice, ElementType::bf16, 97, Mask::causal},
};

Inputs inputs_of(const Case& line) {
  return make_inputs(line.family, line.type, line.seq_len, 32, 1);
}

}  // namespace

TEST_CASE("A kernel without a bug passes every family, in both types, at all sizes and masks") {
  for (const InputFamily& family : input_families()) {
    for (const auto type : {ElementType::fp16, ElementType::bf16}) {
      for (const auto& [seq_len, head_dim] :
           {std::pair{1, 64}, {32, 16}, {33, 16}, {33, 64}, {97, 32}, {97, 64}, {300, 16}}) {
        for (const auto mask : {Mask::none, Mask::causal}) {
          CAPTURE(family.name, name_of(type), seq_len, head_dim, mask);
          const Inputs inputs = make_inputs(family.name, type, seq_len, head_dim, 1);
          const Comparison comparison = judge(Bug::none, inputs, mask);
          CAPTURE(describe(comparison), comparison.norm_share);
          CHECK(comparison.passed);
        }
      }
    }
  }
}

TEST_CASE("Every family catches the bug that it is there for") {
  for (const Case& line : kCases) {
    CAPTURE(line.family, int(line.bug), name_of(line.type), line.seq_len, line.mask);
    CHECK_FALSE(judge(line.bug, inputs_of(line), line.mask).passed);
    CHECK(judge(Bug::none, inputs_of(line), line.mask).passed);
  }
}

TEST_CASE("No family stands without a bug that it catches, and no bug without a family") {
  std::set<std::string_view> families;
  std::set<Bug> bugs;
  for (const Case& line : kCases) {
    families.insert(line.family);
    bugs.insert(line.bug);
  }
  CHECK(families.size() == input_families().size());
  CHECK(bugs.size() == std::size_t(Bug::columns_cut_to_16));
}

TEST_CASE("Normal numbers alone let bugs live that a family of their own catches") {
  for (const Bug bug : {Bug::max_begun_at_zero, Bug::no_max, Bug::tile_max, Bug::finite_sentinel,
                        Bug::lanes_missing_from_max, Bug::subnormals_flushed}) {
    CAPTURE(int(bug));
    const Inputs inputs = make_inputs("normal", ElementType::fp16, 97, 32, 1);
    CHECK(judge(bug, inputs, Mask::none).passed);
    if (bug != Bug::tile_max) CHECK(judge(bug, inputs, Mask::causal).passed);
  }
}
