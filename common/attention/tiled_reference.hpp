// SPDX-License-Identifier: MIT
/// @file
/// The paper's recurrence in plain C++, a query row at a time: what each kernel from stage 2 on
/// computes, with every number that it carries open to view. Read it next to stage 2.
///
/// A row starts at m = -inf, l = 0, a = 0 and goes through the keys tile by tile:
///
///     m' = max(m, max s)        alpha = exp(m - m')        p = exp(s - m')
///     l' = alpha l + sum p      a' = alpha a + p V
///
/// After each tile a / l is attention over the keys seen so far; after the last it is the output.
/// (Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.)
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "common/attention/element.hpp"
#include "common/attention/inputs.hpp"
#include "common/attention/matrix.hpp"
#include "common/attention/mutation.hpp"
#include "common/attention/problem.hpp"

namespace workshop {

/// How the recurrence is carried out. Without a mutation only the mask changes the result beyond
/// rounding.
struct TiledOptions {
  int block_n = 32;  // keys a tile holds, from 1 on
  Mask mask = Mask::none;
  std::optional<ElementType> round_probs = {};  // p enters P V rounded, as in the kernels
  Mutation mutation = Mutation::none;
};

/// What a query row carries from tile to tile, in FP32 (float) or FP64 (double).
template <typename State>
struct RowState {
  State m = -std::numeric_limits<State>::infinity();  // the largest score so far
  State l = 0;                                        // sum of exp(s - m)
  std::vector<State> a;                               // [D], sum of exp(s - m) v

  explicit RowState(int head_dim) : a(head_dim, State(0)) {}

  /// a / l  [D]
  std::vector<State> output() const {
    std::vector<State> o = a;
    for (State& element : o) element /= l;
    return o;
  }
};

/// What an observer is handed after each tile; valid until it returns.
template <typename State>
struct TileStep {
  int row;
  int tile;
  std::span<const State> scores;  // [keys of the tile], -inf where masked
  State alpha;
  std::span<const State> p;  // [keys of the tile], unrounded, as l sums it
  const RowState<State>& state;
};

template <typename State>
using Observer = std::function<void(const TileStep<State>&)>;

/// m', or what a mutation takes for it.
template <typename State>
State next_max(State m, State tile_max, Mutation mutation) {
  if (mutation == Mutation::tile_max) return tile_max;
  if (mutation == Mutation::no_max) return 0;
  return std::max(m, tile_max);
}

/// A probability as it enters P V: rounded to `type`, if there is one.
template <typename State>
State weight_of(State p, std::optional<ElementType> type) {
  return type ? State(to_float(*type, round_to(*type, float(p)))) : p;
}

/// Takes a row through one tile. A tile without a visible key leaves the row bitwise as it was.
/// @param scores     [keys of the tile], scaled; -inf for a key that the row must not see
/// @param[out] p     [keys of the tile]
/// @param v          [N][D]
/// @param first_key  the row of `v` that belongs to scores[0]
/// @returns alpha: never above 1; 0 on the first tile, where m = -inf; 1 where no key is visible
template <typename State>
State online_softmax_step(RowState<State>& row, std::span<const State> scores, std::span<State> p,
                          const Matrix<State>& v, int first_key, const TiledOptions& options = {}) {
  const State tile_max = *std::max_element(scores.begin(), scores.end());
  if (tile_max == -std::numeric_limits<State>::infinity()) {  // -inf - -inf would be NaN
    std::fill(p.begin(), p.end(), State(0));
    return 1;
  }
  const State new_max = next_max(row.m, tile_max, options.mutation);
  const State alpha = std::exp(row.m - new_max);
  const State alpha_l = options.mutation == Mutation::forgot_to_rescale_l ? State(1) : alpha;
  const State alpha_a = options.mutation == Mutation::forgot_to_rescale_a ? State(1) : alpha;

  State tile_sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    p[j] = std::exp(scores[j] - new_max);
    tile_sum += p[j];
  }
  row.m = new_max;
  row.l = alpha_l * row.l + tile_sum;
  for (State& a : row.a) a *= alpha_a;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const State weight = weight_of(p[j], options.round_probs);
    for (int d = 0; d < v.cols; ++d) row.a[d] += weight * v(first_key + int(j), d);
  }
  return alpha;
}

/// The scores of one query row against the keys [first_key, first_key + scores.size()):
/// q k^T / sqrt(D), or -inf where the mask hides the key.
template <typename State>
void tile_scores(std::span<State> scores, const Matrix<State>& q, const Matrix<State>& k, int q_row,
                 int first_key, Mask mask) {
  const auto softmax_scale = State(1 / std::sqrt(double(q.cols)));
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const int k_col = first_key + int(j);
    State dot = 0;
    for (int d = 0; d < q.cols; ++d) dot += q(q_row, d) * k(k_col, d);
    const bool visible = mask == Mask::none || k_col <= q_row;
    scores[j] = visible ? dot * softmax_scale : -std::numeric_limits<State>::infinity();
  }
}

/// One query row through all tiles.
/// @param q    [M][D]
/// @param k,v  [N][D]
/// @returns the state after the last tile
template <typename State>
RowState<State> tiled_row(const Matrix<State>& q, const Matrix<State>& k, const Matrix<State>& v,
                          int q_row, const TiledOptions& options,
                          const std::type_identity_t<Observer<State>>& observer = {}) {
  RowState<State> state(v.cols);
  for (int first_key = 0; first_key < k.rows; first_key += options.block_n) {
    std::vector<State> scores(std::min(options.block_n, k.rows - first_key));
    std::vector<State> p(scores.size());
    tile_scores<State>(scores, q, k, q_row, first_key, options.mask);
    const State alpha = online_softmax_step<State>(state, scores, p, v, first_key, options);
    if (observer) observer({q_row, first_key / options.block_n, scores, alpha, p, state});
  }
  return state;
}

/// @throws Refusal naming the sizes that do not go together
template <typename State>
void require_shapes(const Matrix<State>& q, const Matrix<State>& k, const Matrix<State>& v,
                    const TiledOptions& options) {
  const auto require = [](bool fits, const char* text, int given, int other = 0) {
    if (!fits) throw Refusal(fmt::format(fmt::runtime(text), given, other));
  };
  require(options.block_n >= 1, "block_n is {}; allowed: 1 or more", options.block_n);
  require(k.rows >= 1, "k has {} rows; allowed: 1 or more", k.rows);
  require(q.cols >= 1, "q has {} columns; allowed: 1 or more", q.cols);
  require(k.cols == q.cols, "k has {} columns and q {}; allowed: the same", k.cols, q.cols);
  require(v.cols == q.cols, "v has {} columns and q {}; allowed: the same", v.cols, q.cols);
  require(v.rows == k.rows, "v has {} rows and k {}; allowed: the same", v.rows, k.rows);
  require(options.mask == Mask::none || q.rows == k.rows,
          "the causal mask has q with {} rows and k with {}; allowed: the same", q.rows, k.rows);
}

/// O = softmax(Q K^T / sqrt(D)) V by the recurrence, for every size from 1 on.
/// @param q    [M][D]
/// @param k,v  [N][D]; the mask `causal` needs M = N
/// @param observer  called after each tile of each row, rows in order
/// @returns [M][D]
/// @throws Refusal naming the sizes that do not go together
template <typename State>
Matrix<State> tiled_attention(const Matrix<State>& q, const Matrix<State>& k,
                              const Matrix<State>& v, const TiledOptions& options,
                              const std::type_identity_t<Observer<State>>& observer = {}) {
  require_shapes(q, k, v, options);
  Matrix<State> o(q.rows, v.cols);
  for (int q_row = 0; q_row < q.rows; ++q_row) {
    const std::vector<State> row = tiled_row(q, k, v, q_row, options, observer).output();
    std::copy(row.begin(), row.end(), o.row(q_row).begin());
  }
  return o;
}

/// The same on stored 16-bit inputs, widened exactly; `tiled_attention<float>(inputs, options)`.
template <typename State>
Matrix<State> tiled_attention(const Inputs& inputs, const TiledOptions& options,
                              const std::type_identity_t<Observer<State>>& observer = {}) {
  return tiled_attention(widen<State>(inputs.type, inputs.q), widen<State>(inputs.type, inputs.k),
                         widen<State>(inputs.type, inputs.v), options, observer);
}

/// One head of a batch.
template <typename State>
struct Head {
  Matrix<State> q;  // [M][D]
  Matrix<State> k;  // [N][D]
  Matrix<State> v;  // [N][D]
};

/// Heads do not look at each other: a batch, or the heads of a layer, is a loop.
/// @returns [heads] of [M][D]
template <typename State>
std::vector<Matrix<State>> tiled_attention(const std::vector<Head<State>>& heads,
                                           const TiledOptions& options) {
  std::vector<Matrix<State>> outputs;
  for (const Head<State>& head : heads) {
    outputs.push_back(tiled_attention(head.q, head.k, head.v, options));
  }
  return outputs;
}

}  // namespace workshop
