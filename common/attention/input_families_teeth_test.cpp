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
  float new_max = 0;           // m', for a bug that has its own

  float rounded(float value) const { return to_float(type, round_to(type, value)); }
};

/// A family that catches a bug, and a size at which the bug can show.
struct Case {
  std::string_view family;
  ElementType type = kFp16;
  int seq_len = 97;
  Mask mask = Mask::none;
};

/// A mistake: a known mutation, or a change to what is read, before a step or after it.
struct Bug {
  std::string_view name;
  std::vector<Case> caught_by;
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

// What is read.

void forget_scale(Head<float>& head) {
  for (float& q : head.q.values) q *= std::sqrt(float(head.q.cols));
}

void count_padding(Head<float>& head) {
  for (Matrix<float>* tensor : {&head.k, &head.v}) {
    tensor->rows = (tensor->rows + 31) / 32 * 32;
    tensor->values.resize(std::size_t(tensor->rows) * tensor->cols, 0.0f);
  }
}

void count_last_key_twice(Head<float>& head) {
  for (float& v : head.v.row(head.v.rows - 1)) v *= 2;
}

void exchange_keys_of_v(Head<float>& head) {
  for (int key = 0; key + 1 < head.v.rows; key += 2) {
    std::ranges::swap_ranges(head.v.row(key), head.v.row(key + 1));
  }
}

void repeat_16_columns_of_v(Head<float>& head) {
  for (int key = 0; key < head.v.rows; ++key) {
    for (int col = 16; col < head.v.cols; ++col) head.v(key, col) = head.v(key, col % 16);
  }
}

// The scores.

void see_key_after_diagonal(Step& step) {
  const int next = step.q_row + 1 - step.first_key;
  if (next < 0 || next >= int(step.scores.size())) return;
  tile_scores<float>(std::span(step.scores).subspan(next, 1), step.head.q, step.head.k, step.q_row,
                     step.q_row + 1, Mask::none);
}

void drop_last_key(Step& step) {
  const int last = step.head.k.rows - 1 - step.first_key;
  if (last < int(step.scores.size())) step.scores[last] = -kInfinity;
}

void hide_by_finite_score(Step& step) { std::ranges::replace(step.scores, -kInfinity, -1e4f); }

void round_scores(Step& step) {
  for (float& score : step.scores) score = step.rounded(score);
}

void flush_subnormal_probs(Step& step) {
  const float new_max = std::max(step.state.m, std::ranges::max(step.scores));
  for (float& score : step.scores) {
    if (std::exp(score - new_max) < 0x1p-14f) score = -kInfinity;
  }
}

// The state.

void begin_max_at_zero(Step& step) { step.state.m = std::max(step.state.m, 0.0f); }

void forget_old_max(Step& step) { step.state.m = std::ranges::max(step.scores); }  // alpha is 1

/// Makes all relative to a m' from the first 8 keys; the step, without a maximum, takes 0 for it.
void take_max_of_8_lanes(Step& step) {
  const auto lanes = std::span(step.scores).first(std::min<std::size_t>(8, step.scores.size()));
  step.new_max = std::max(step.state.m, std::ranges::max(lanes));
  step.state.m -= step.new_max;
  for (float& score : step.scores) score -= step.new_max;
}

void store_new_max(Step& step) { step.state.m = step.new_max; }

void round_row_sum(Step& step) { step.state.l = step.rounded(step.state.l); }

void round_output(Step& step) {
  for (float& a : step.state.a) a = step.rounded(a);
}

const Bug kBugs[] = {
    {.name = "no maximum",
     .caught_by = {{"large-logits"}, {"low-scores"}},
     .lives_on_normal = true,
     .mutation = Mutation::no_max},
    {.name = "maximum of the tile alone",
     .caught_by = {{"high-then-zero"}},
     .lives_on_normal = true,
     .mutation = Mutation::tile_max},
    {.name = "a not rescaled",
     .caught_by = {{"rising"}, {"rising", kBf16, 97, Mask::causal}},
     .mutation = Mutation::forgot_to_rescale_a},
    {.name = "l not rescaled",
     .caught_by = {{"rising"}, {"rising", kBf16, 97, Mask::causal}},
     .mutation = Mutation::forgot_to_rescale_l},

    {.name = "scale forgotten", .caught_by = {{"normal"}, {"normal", kBf16}}, .read = forget_scale},
    {.name = "padding counted", .caught_by = {{"low-scores", kFp16, 33}}, .read = count_padding},
    {.name = "last key counted twice",
     .caught_by = {{"cancelling-v"}, {"cancelling-v", kBf16, 97, Mask::causal}},
     .read = count_last_key_twice},
    {.name = "keys of V exchanged", .caught_by = {{"identity-v"}}, .read = exchange_keys_of_v},
    {.name = "columns of V repeated",
     .caught_by = {{"column-pattern"}},
     .read = repeat_16_columns_of_v},

    {.name = "causal off by one",
     .caught_by = {{"normal", kFp16, 97, Mask::causal}, {"normal", kBf16, 97, Mask::causal}},
     .before = see_key_after_diagonal},
    {.name = "last key dropped",
     .caught_by = {{"last-key", kFp16, 33}, {"last-key", kBf16, 97, Mask::causal}},
     .before = drop_last_key},
    {.name = "masked scores finite",
     .caught_by = {{"equal-low", kFp16, 33, Mask::causal}, {"equal-low", kBf16, 33, Mask::causal}},
     .lives_on_normal = true,
     .before = hide_by_finite_score},
    {.name = "scores in 16 bits",
     .caught_by = {{"large-channel"}, {"large-channel", kBf16}},
     .before = round_scores},
    {.name = "subnormal p flushed",
     .caught_by = {{"subnormal-p"}},
     .lives_on_normal = true,
     .before = flush_subnormal_probs},

    {.name = "maximum begun at 0",
     .caught_by = {{"low-scores"}},
     .lives_on_normal = true,
     .before = begin_max_at_zero},
    {.name = "old maximum forgotten", .caught_by = {{"falling"}}, .before = forget_old_max},
    {.name = "lanes missing from the maximum",
     .caught_by = {{"one-hot-key", kFp16, 64}},
     .lives_on_normal = true,
     .mutation = Mutation::no_max,
     .before = take_max_of_8_lanes,
     .after = store_new_max},
    {.name = "l in 16 bits",
     .caught_by = {{"uniform-logits", kBf16, 300}},
     .block_n = 1,
     .after = round_row_sum},
    {.name = "a in 16 bits", .caught_by = {{"huge-v"}}, .after = round_output},
};

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
  for (const Bug& bug : kBugs) {
    for (const Case& line : bug.caught_by) {
      CAPTURE(bug.name, line.family, name_of(line.type), line.seq_len, name_of(line.mask));
      const Inputs inputs = make_inputs(line.family, line.type, line.seq_len, 32, 1);
      CHECK_FALSE(judge(bug, inputs, line.mask).passed);
      CHECK(judge({}, inputs, line.mask).passed);
    }
  }
}

TEST_CASE("No family stands without a bug that it catches, and no bug without a family") {
  std::set<std::string_view> families;
  std::set<Mutation> mutations;
  for (const Bug& bug : kBugs) {
    CAPTURE(bug.name);
    CHECK_FALSE(bug.caught_by.empty());
    for (const Case& line : bug.caught_by) families.insert(line.family);
    mutations.insert(bug.mutation);
  }
  CHECK(families.size() == input_families().size());
  CHECK(mutations.size() == 1 + std::size(kMutations));  // and Mutation::none
}

TEST_CASE("Normal numbers alone let bugs live that a family of their own catches") {
  const Inputs inputs = make_inputs("normal", kFp16, 97, 32, 1);
  for (const Bug& bug : kBugs) {
    CAPTURE(bug.name);
    if (bug.lives_on_normal) {
      CHECK(judge(bug, inputs, Mask::none).passed);
      CHECK(judge(bug, inputs, Mask::causal).passed);
    }
  }
}
