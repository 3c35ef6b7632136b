// SPDX-License-Identifier: MIT
/// @file
/// A trace as text: a table for people, JSON for programs.
#pragma once

#include "query.hpp"
#include "replay.hpp"

#include <optional>
#include <string>
#include <vector>

#include "common/attention/mutation.hpp"

namespace workshop {

/// A replay and what belongs to it, before it is printed.
struct Report {
  Query query;
  std::vector<TileRecord> tiles;
  DenseRow dense;
  std::optional<MutationInfo> bug;
  std::optional<WrongStep> wrong_step;  // with a bug: where it first changes a number

  const std::vector<double>& output() const { return tiles.back().output; }
};

/// Lines of at most 100 columns: the tiles, the dense formula beside them, what the columns mean,
/// where the bug went wrong, and what to try next.
std::string to_table(const Report& report);

/// One line of JSON with all numbers to 17 significant digits; null for what is no finite number.
std::string to_json(const Report& report);

}  // namespace workshop
