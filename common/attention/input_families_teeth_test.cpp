// SPDX-License-Identifier: MIT
/// @file
/// That the input families have teeth: the tiled reference with one bug at a time, each bug caught by
/// the family that claims to catch it, and the reference without a bug passing them all.

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/attention/error_bound.hpp"
#include "common/attention/inputs.hpp"
#include "common/attention/tiled_reference.hpp"
#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr ElementType kFp16 = ElementType::fp16;
constexpr ElementType kBf16 = ElementType::bf16;

/// A query row that meets a tile: what a bug may reach for.
struct Step {
  const Head<float>& head;
  int q_row;
  int first_key;
  ElementType type;
  RowState<float>& state;
  std::vector<float>& scores;  // [keys of the tile]
  float new_max = 0;           // for a bug with a m' of its own

  float rounded(float value) const { return to_float(type, round_to(type, value)); }
};

/// A family that catches a bug, and a size at which the bug can show.
struct Catch {
  std::string_view family;
  ElementType type = kFp16;
  int seq_len = 97;
  Mask mask = Mask::none;
};

/// A mistake: a known mutation, or a change to what is read, before a step or after it.
struct Bug {
  std::string_view name;
  std::vector<Catch> caught_by;
  bool lives_on_normal = false;  // normal numbers do not bring it to light
  Mutation mutation = Mutation::none;
  int block_n = 32;
  void (*read)(Head<float>& head) = nullptr;
  void (*before)(Step& step) = nullptr;
  void (*after)(Step& step) = nullptr;
};

/// tiled_row with `bug` on the way.
RowState<float> buggy_row(const Bug& bug, const Head<float>& head, int q_row, ElementType type,
                          const TiledOptions& options) {
  RowState<float> state(head.v.cols);
  for (int first_key = 0; first_key < head.k.rows; first_key += options.block_n) {
    std::vector<float> scores(std::min(options.block_n, head.k.rows - first_key));
    std::vector<float> p(scores.size());
    tile_scores<float>(scores, head.q, head.k, q_row, first_key, options.mask);
    Step step{head, q_row, first_key, type, state, scores};
    if (bug.before) bug.before(step);
    online_softmax_step<float>(state, scores, p, head.v, first_key, options);
    if (bug.after) bug.after(step);
  }
  return state;
}

/// o as a kernel with that bug stores it.
Matrix<double> run(const Bug& bug, const Inputs& inputs, Mask mask) {
  const ElementType type = inputs.type;
  Head<float> head{widen<float>(type, inputs.q), widen<float>(type, inputs.k),
                   widen<float>(type, inputs.v)};
  if (bug.read) bug.read(head);
  const TiledOptions options{
      .block_n = bug.block_n, .mask = mask, .round_probs = type, .mutation = bug.mutation};
  Matrix<float> o(head.q.rows, head.q.cols);
  if (bug.before || bug.after) {
    for (int row = 0; row < o.rows; ++row) {
      std::ranges::copy(buggy_row(bug, head, row, type, options).output(), o.row(row).begin());
    }
  } else {
    o = tiled_attention(head.q, head.k, head.v, options);
  }
  Matrix<double> stored(o.rows, o.cols);
  std::ranges::transform(o.values, stored.values.begin(),
                         [type](float value) { return to_float(type, round_to(type, value)); });
  return stored;
}

/// The first `keys` of a tile, or all there are.
std::span<float> first(std::vector<float>& scores, std::size_t keys) {
  return std::span(scores).first(std::min(keys, scores.size()));
}

const std::vector<Bug>& bugs() {
  static const std::vector<Bug> bugs = {
      // The recurrence.
      {.name = "no maximum",
       .caught_by = {{"large-logits"}, {"low-scores"}},
       .lives_on_normal = true,
       .mutation = Mutation::no_max},
      {.name = "the maximum of the tile alone",
       .caught_by = {{"high-then-zero"}},
       .lives_on_normal = true,
       .mutation = Mutation::tile_max},
      {.name = "a not rescaled",
       .caught_by = {{"rising"}, {"rising", kBf16, 97, Mask::causal}},
       .mutation = Mutation::forgot_to_rescale_a},
      {.name = "l not rescaled",
       .caught_by = {{"rising"}, {"rising", kBf16, 97, Mask::causal}},
       .mutation = Mutation::forgot_to_rescale_l},

      // What is read.
      {.name = "the scale is forgotten",
       .caught_by = {{"normal"}, {"normal", kBf16}},
       .read =
           [](Head<float>& head) {
             for (float& q : head.q.values) q *= std::sqrt(float(head.q.cols));
           }},
      {.name = "padding is counted",
       .caught_by = {{"low-scores", kFp16, 33}},
       .read =
           [](Head<float>& head) {
             for (Matrix<float>* tensor : {&head.k, &head.v}) {
               tensor->rows = (tensor->rows + 31) / 32 * 32;
               tensor->values.resize(std::size_t(tensor->rows) * tensor->cols, 0.0f);
             }
           }},
      {.name = "the last key is counted twice",
       .caught_by = {{"cancelling-v"}, {"cancelling-v", kBf16, 97, Mask::causal}},
       .read =
           [](Head<float>& head) {
             for (float& v : head.v.row(head.v.rows - 1)) v *= 2;
           }},
      {.name = "neighbouring keys of V are exchanged",
       .caught_by = {{"identity-v"}},
       .read =
           [](Head<float>& head) {
             for (int key = 0; key + 1 < head.v.rows; key += 2) {
               std::ranges::swap_ranges(head.v.row(key), head.v.row(key + 1));
             }
           }},
      {.name = "the first 16 columns of V are read again for the others",
       .caught_by = {{"column-pattern"}},
       .read =
           [](Head<float>& head) {
             for (int key = 0; key < head.v.rows; ++key) {
               for (int col = 16; col < head.v.cols; ++col)
                 head.v(key, col) = head.v(key, col % 16);
             }
           }},

      // The scores.
      {.name = "causal: the key after the diagonal is seen",
       .caught_by = {{"normal", kFp16, 97, Mask::causal}, {"normal", kBf16, 97, Mask::causal}},
       .before =
           [](Step& step) {
             const int next = step.q_row + 1 - step.first_key;
             if (next < 0 || next >= int(step.scores.size())) return;
             tile_scores<float>(std::span(step.scores).subspan(next, 1), step.head.q, step.head.k,
                                step.q_row, step.q_row + 1, Mask::none);
           }},
      {.name = "the last key is dropped",
       .caught_by = {{"last-key", kFp16, 33}, {"last-key", kBf16, 97, Mask::causal}},
       .before =
           [](Step& step) {
             const int last = step.head.k.rows - 1 - step.first_key;
             if (last < int(step.scores.size())) step.scores[last] = -kInfinity;
           }},
      {.name = "keys that the mask hides have the score -10000",
       .caught_by = {{"equal-low", kFp16, 33, Mask::causal},
                     {"equal-low", kBf16, 33, Mask::causal}},
       .lives_on_normal = true,
       .before = [](Step& step) { std::ranges::replace(step.scores, -kInfinity, -1e4f); }},
      {.name = "scores in 16 bits",
       .caught_by = {{"large-channel"}, {"large-channel", kBf16}},
       .before =
           [](Step& step) {
             for (float& score : step.scores) score = step.rounded(score);
           }},
      {.name = "a p that is subnormal in FP16 is flushed to 0",
       .caught_by = {{"subnormal-p"}},
       .lives_on_normal = true,
       .before =
           [](Step& step) {
             const float new_max = std::max(step.state.m, std::ranges::max(step.scores));
             for (float& score : step.scores) {
               if (std::exp(score - new_max) < 0x1p-14f) score = -kInfinity;
             }
           }},

      // The state.
      {.name = "the maximum begins at 0",
       .caught_by = {{"low-scores"}},
       .lives_on_normal = true,
       .before = [](Step& step) { step.state.m = std::max(step.state.m, 0.0f); }},
      {.name = "the old maximum is forgotten: alpha is 1",
       .caught_by = {{"falling"}},
       .before = [](Step& step) { step.state.m = std::ranges::max(step.scores); }},
      {.name = "8 lanes alone contribute to the maximum",
       .caught_by = {{"one-hot-key", kFp16, 64}},
       .lives_on_normal = true,
       .mutation = Mutation::no_max,  // of scores that have m' subtracted already
       .before =
           [](Step& step) {
             step.new_max = std::max(step.state.m, std::ranges::max(first(step.scores, 8)));
             step.state.m -= step.new_max;
             for (float& score : step.scores) score -= step.new_max;
           },
       .after = [](Step& step) { step.state.m = step.new_max; }},
      {.name = "l in 16 bits",
       .caught_by = {{"uniform-logits", kBf16, 300}},
       .block_n = 1,
       .after = [](Step& step) { step.state.l = step.rounded(step.state.l); }},
      {.name = "a in 16 bits",
       .caught_by = {{"huge-v"}},
       .after =
           [](Step& step) {
             for (float& a : step.state.a) a = step.rounded(a);
           }},
  };
  return bugs;
}

Comparison judge(const Bug& bug, const Inputs& inputs, Mask mask) {
  return compare(run(bug, inputs, mask), expect(inputs, mask));
}

}  // namespace

TEST_CASE("A kernel without a bug passes every family, in both types, at all sizes and masks") {
  for (const InputFamily& family : input_families()) {
    for (const auto type : {kFp16, kBf16}) {
      for (const auto& [seq_len, head_dim] :
           {std::pair{1, 64}, {32, 16}, {33, 16}, {33, 64}, {97, 32}, {97, 64}, {300, 16}}) {
        for (const auto mask : {Mask::none, Mask::causal}) {
          CAPTURE(family.name, name_of(type), seq_len, head_dim, name_of(mask));
          const Inputs inputs = make_inputs(family.name, type, seq_len, head_dim, 1);
          const Comparison comparison = judge({}, inputs, mask);
          CAPTURE(describe(comparison), comparison.norm_share);
          CHECK(comparison.passed);
        }
      }
    }
  }
}

TEST_CASE("Every family catches the bug that it is there for") {
  for (const Bug& bug : bugs()) {
    for (const Catch& with : bug.caught_by) {
      CAPTURE(bug.name, with.family, name_of(with.type), with.seq_len, name_of(with.mask));
      const Inputs inputs = make_inputs(with.family, with.type, with.seq_len, 32, 1);
      CHECK_FALSE(judge(bug, inputs, with.mask).passed);
      CHECK(judge({}, inputs, with.mask).passed);
    }
  }
}

TEST_CASE("No family stands without a bug that it catches, and no bug without a family") {
  std::set<std::string_view> families;
  std::set<Mutation> mutations;
  for (const Bug& bug : bugs()) {
    CAPTURE(bug.name);
    CHECK_FALSE(bug.caught_by.empty());
    for (const Catch& with : bug.caught_by) families.insert(with.family);
    mutations.insert(bug.mutation);
  }
  CHECK(families.size() == input_families().size());
  CHECK(mutations.size() == 1 + std::size(kMutations));  // and Mutation::none
}

TEST_CASE("Normal numbers alone let bugs live that a family of their own catches") {
  const Inputs inputs = make_inputs("normal", kFp16, 97, 32, 1);
  for (const Bug& bug : bugs()) {
    CAPTURE(bug.name);
    if (bug.lives_on_normal) {
      CHECK(judge(bug, inputs, Mask::none).passed);
      CHECK(judge(bug, inputs, Mask::causal).passed);
    }
  }
}
