// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/attention/oracle.hpp"
#include "common/attention/tiled_reference.hpp"

namespace workshop {

bool TileRecord::visible() const {
  return std::any_of(scores.begin(), scores.end(), [](double score) { return !std::isinf(score); });
}

std::vector<TileRecord> replay(const Query& query, Mutation mutation) {
  RowState<double> state(query.v.cols);
  std::vector<TileRecord> tiles;
  int first_key = 0;
  for (int keys : query.tile_keys) {
    TileRecord tile;
    tile.first_key = first_key;
    tile.scores.resize(keys);
    tile.p.resize(keys);
    tile_scores<double>(tile.scores, query.q, query.k, query.row, first_key, query.mask);
    tile.alpha = online_softmax_step<double>(state, tile.scores, tile.p, query.v, first_key,
                                             {.mutation = mutation});
    tile.m = state.m;
    tile.l = state.l;
    tile.a = state.a;
    tile.output = state.output();
    tiles.push_back(std::move(tile));
    first_key += keys;
  }
  return tiles;
}

DenseRow dense_row(const Query& query) {
  DenseRow row{attention_weights(query.q, query.k, query.row, query.mask),
               std::vector<double>(query.v.cols)};
  for (int key = 0; key < query.v.rows; ++key) {
    for (int col = 0; col < query.v.cols; ++col)
      row.output[col] += row.weights[key] * query.v(key, col);
  }
  return row;
}

namespace {

/// The numbers of a tile with their names, in the order in which a step computes them.
std::vector<std::pair<std::string, double>> numbers_of(const TileRecord& tile) {
  std::vector<std::pair<std::string, double>> numbers = {{"m", tile.m}, {"alpha", tile.alpha}};
  const auto add_list = [&](const char* name, const std::vector<double>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      numbers.emplace_back(list.size() == 1 ? name : fmt::format("{}[{}]", name, i), list[i]);
    }
  };
  add_list("p", tile.p);
  numbers.emplace_back("l", tile.l);
  add_list("a", tile.a);
  return numbers;
}

}  // namespace

std::optional<WrongStep> first_wrong_step(const std::vector<TileRecord>& tiles,
                                          const std::vector<TileRecord>& right) {
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    const auto values = numbers_of(tiles[tile]);
    const auto expected = numbers_of(right[tile]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(values[i].second == expected[i].second)) {
        return WrongStep{tile, values[i].first, values[i].second, expected[i].second};
      }
    }
  }
  return std::nullopt;
}

bool same_output(const std::vector<double>& output, const std::vector<double>& expected) {
  return std::equal(
      output.begin(), output.end(), expected.begin(), expected.end(),
      [](double x, double y) { return std::abs(x - y) <= 1e-12 * (1 + std::abs(y)); });
}

}  // namespace workshop
