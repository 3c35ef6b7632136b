// SPDX-License-Identifier: MIT
/// @file
/// The named input families. Each starts as normal numbers and is bent until one kind of mistake
/// shows. Only operations that IEEE 754 defines to the last bit are used (no exp, log or cos, and no
/// std::normal_distribution, whose algorithm is the library's choice), so the bits are the same
/// everywhere.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/attention/inputs.hpp"
#include "common/attention/problem.hpp"

namespace workshop {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that scatters neighbours.
std::uint64_t scatter(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

/// Random numbers by place, not by order: a longer input begins with the numbers of a shorter one.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t tensor) : key_(scatter(scatter(seed) + tensor)) {}

  std::uint64_t word(std::uint64_t row, std::uint64_t col, std::uint64_t draw = 0) const {
    return scatter(key_ + scatter(row << 32 | col << 8 | draw));
  }

  /// The sum of 12 uniform numbers (Irwin-Hall), less its mean: variance 1, within 6 of 0.
  double normal(int row, int col) const {
    std::int64_t sum = 0;  // of 12 16-bit integers, each 2^16 times a uniform number
    for (int draw = 0; draw < 3; ++draw) {
      const std::uint64_t four = word(row, col, draw);
      for (int shift = 0; shift < 64; shift += 16) sum += four >> shift & 0xffff;
    }
    return double(2 * sum - 12 * 0xffff) * 0x1p-17;
  }

 private:
  std::uint64_t key_;
};

/// Inputs before they are rounded. Scores below are scaled: q k^T / sqrt(D).
struct Draft {
  Matrix<double> q, k, v;  // [N][D]
  double root_d;           // sqrt(D)
  std::uint64_t word;      // one random word, to choose a place with

  int seq_len() const { return q.rows; }
};

void fill(Matrix<double>& matrix, double value) { std::ranges::fill(matrix.values, value); }

void multiply(Matrix<double>& matrix, double factor) {
  for (double& value : matrix.values) value *= factor;
}

/// matrix[row][col] = value(row, col)
template <typename Value>
void set(Matrix<double>& matrix, Value value) {
  for (int row = 0; row < matrix.rows; ++row) {
    for (int col = 0; col < matrix.cols; ++col) matrix(row, col) = value(row, col);
  }
}

void set_channel_0(Matrix<double>& matrix, double value) {
  for (int row = 0; row < matrix.rows; ++row) matrix(row, 0) = value;
}

/// Adds `score` to every score, by way of channel 0 of q and k.
void shift_scores(Draft& draft, double score) {
  const double root = std::sqrt(std::abs(score) * draft.root_d);
  set_channel_0(draft.q, score < 0 ? -root : root);
  set_channel_0(draft.k, root);
}

/// Every query gives key j the score `score(j)`.
template <typename Score>
void set_scores(Draft& draft, Score score) {
  fill(draft.q, 0);
  set_channel_0(draft.q, draft.root_d);
  for (int key = 0; key < draft.seq_len(); ++key) draft.k(key, 0) = score(key);
}

void normal(Draft&) {}

void uniform_logits(Draft& draft) { fill(draft.q, 0); }

void large_logits(Draft& draft) {
  multiply(draft.q, 6);
  multiply(draft.k, 6);
}

/// From 0 to 12, and for every second, third, fourth query 1.25, 1.5, 1.75 times as steep.
void ramp(Draft& draft, bool rising) {
  const int last = draft.seq_len() - 1;
  set_scores(draft, [&](int key) { return 12.0 * (rising ? key : last - key) / (last + 1); });
  for (int row = 0; row <= last; ++row) draft.q(row, 0) *= 1 + row % 4 * 0.25;
}

void rising(Draft& draft) { ramp(draft, true); }

void falling(Draft& draft) { ramp(draft, false); }

void low_scores(Draft& draft) {
  multiply(draft.q, 0.5);
  shift_scores(draft, -280);
}

void equal_low(Draft& draft) {
  const double element = std::sqrt(21000 / draft.root_d);
  fill(draft.q, -element);
  fill(draft.k, element);
}

void high_then_zero(Draft& draft) {
  const int high = std::max(1, draft.seq_len() / 2);
  set_scores(draft, [&](int key) { return key < high ? 200 : 0; });
}

void last_key(Draft& draft) {
  const int last = draft.seq_len() - 1;
  fill(draft.q, 1);
  set(draft.k, [&](int key, int) { return key == last ? 2 : 0; });
  set(draft.v, [&](int key, int col) { return key == last ? 64 + col : 0; });
}

void one_hot_key(Draft& draft) {
  const int hot = int(draft.word % draft.seq_len());
  set_channel_0(draft.q, 10);
  set_channel_0(draft.k, 0);
  draft.k(hot, 0) = 10 * draft.root_d;
}

void large_channel(Draft& draft) {
  set_channel_0(draft.q, 200);
  set_channel_0(draft.k, 200);
}

void huge_v(Draft& draft) {
  for (double& value : draft.v.values) value = 30000 + 3000 * value;
}

/// p = exp(-10.5) to exp(-14.5), that is 2^-15.1 to 2^-20.9, beside a p of 1 whose value is 0.
void subnormal_p(Draft& draft) {
  const int steps = 9;
  set_scores(draft, [](int key) { return key == 0 ? 0 : -10.5 - key % steps * 0.5; });
  for (double& value : draft.v.values) value = 1 + value / 8;
  std::ranges::fill(draft.v.row(0), 0);
}

void identity_v(Draft& draft) {
  set(draft.v, [&](int key, int col) { return key % draft.v.cols == col ? 1 : 0; });
}

void column_pattern(Draft& draft) {
  set(draft.v, [](int, int col) { return col + 1; });
}

void cancelling_v(Draft& draft) {
  multiply(draft.q, 0.25);
  set(draft.v, [](int key, int) { return key % 2 == 0 ? 64 : -64; });
}

struct Recipe {
  InputFamily family;
  void (*bend)(Draft&);
};

constexpr Recipe kRecipes[] = {
    {{"normal", "wrong scale, wrong mask, rows or tiles mixed up"}, normal},
    {{"uniform-logits", "a row sum kept in 16 bits stops growing"}, uniform_logits},
    {{"large-logits", "without subtracting the maximum exp overflows"}, large_logits},
    {{"rising", "the maximum moves to the last tile: a or l not rescaled"}, rising},
    {{"falling", "the maximum of the first tile is forgotten"}, falling},
    {{"low-scores", "scores near -280: a maximum begun at 0, padding counted as score 0"},
     low_scores},
    {{"equal-low", "scores near -21000: a finite number in place of -inf for masked keys"},
     equal_low},
    {{"high-then-zero", "the maximum of a tile in place of the running one: overflow"},
     high_then_zero},
    {{"last-key", "the last key or the last partial tile is dropped"}, last_key},
    {{"one-hot-key", "a maximum that some lanes do not contribute to: overflow"}, one_hot_key},
    {{"large-channel", "scores near 5000 lose their differences in 16 bits"}, large_channel},
    {{"huge-v", "an output summed in 16 bits overflows"}, huge_v},
    {{"subnormal-p", "probabilities below FP16's normal range flushed to 0"}, subnormal_p},
    {{"identity-v", "keys of V out of order: o shows the probabilities themselves"}, identity_v},
    {{"column-pattern", "columns left out or exchanged: column d is d + 1"}, column_pattern},
    {{"cancelling-v", "a key counted twice: all others cancel"}, cancelling_v},
};

constexpr auto kFamilies = [] {
  std::array<InputFamily, std::size(kRecipes)> families;
  std::ranges::transform(kRecipes, families.begin(), &Recipe::family);
  return families;
}();

const Recipe& recipe(std::string_view family) {
  const auto found =
      std::ranges::find(kRecipes, family, [](const Recipe& recipe) { return recipe.family.name; });
  if (found == std::end(kRecipes)) {
    std::vector<std::string_view> names;
    for (const InputFamily& known : kFamilies) names.push_back(known.name);
    throw Refusal(fmt::format("input = {}: the families are {}", family, fmt::join(names, ", ")));
  }
  return *found;
}

}  // namespace

std::span<const InputFamily> input_families() { return kFamilies; }

Inputs make_inputs(std::string_view family, ElementType type, int seq_len, int head_dim,
                   std::uint64_t seed) {
  const auto bend = recipe(family).bend;
  const auto normals = [&](std::uint64_t tensor) {
    const Random random(seed, tensor);
    Matrix<double> matrix(seq_len, head_dim);
    set(matrix, [&](int row, int col) { return random.normal(row, col); });
    return matrix;
  };
  Draft draft{normals(0), normals(1), normals(2), std::sqrt(double(head_dim)),
              Random(seed, 3).word(0, 0)};
  bend(draft);
  return {type, round_matrix(type, draft.q), round_matrix(type, draft.k),
          round_matrix(type, draft.v)};
}

}  // namespace workshop
