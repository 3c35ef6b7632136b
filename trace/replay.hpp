// SPDX-License-Identifier: MIT
/// @file
/// Runs the tiled reference on a query and keeps what it had after each tile.
#pragma once

#include "query.hpp"

#include <optional>
#include <string>
#include <vector>

#include "common/attention/mutation.hpp"

namespace workshop {

/// A tile, and the row's state after it.
struct TileRecord {
  int first_key = 0;
  std::vector<double> scores;  // [keys], -inf where masked
  double m = 0;
  double alpha = 0;
  std::vector<double> p;  // [keys]
  double l = 0;
  std::vector<double> a;       // [columns]
  std::vector<double> output;  // [columns], a / l

  /// Whether the query sees any key of this tile.
  bool visible() const;
};

/// The recurrence on every tile in turn, in FP64.
std::vector<TileRecord> replay(const Query& query, Mutation mutation);

/// The same row by the dense formula: all scores, one softmax.
struct DenseRow {
  std::vector<double> weights;  // [N]
  std::vector<double> output;   // [columns]
};

DenseRow dense_row(const Query& query);

/// The step where a replay leaves the right path.
struct WrongStep {
  std::size_t tile = 0;
  std::string what;  // "m", "a", "p[3]"
  double value = 0;
  double expected = 0;
};

/// The first number of the first tile that is not bitwise the one of `right`.
std::optional<WrongStep> first_wrong_step(const std::vector<TileRecord>& tiles,
                                          const std::vector<TileRecord>& right);

/// Whether two outputs agree to FP64 rounding; false for what is no number.
bool same_output(const std::vector<double>& output, const std::vector<double>& expected);

}  // namespace workshop
