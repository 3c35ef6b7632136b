// SPDX-License-Identifier: MIT
/// @file
/// Written out by hand: the JSON library prints the shortest digits that read back, not all 17, and
/// sorts the keys.
#include "report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace workshop {
namespace {

std::string json_number(double number) {
  return std::isfinite(number) ? fmt::format("{:.17g}", number) : "null";
}

std::string json_list(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (double number : numbers) texts.push_back(json_number(number));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

std::string json_tile(const TileRecord& tile, std::size_t index) {
  return fmt::format(
      R"({{"tile":{},"scores":{},"m":{},"alpha":{},"p":{},"l":{},"a":{},"output":{}}})", index,
      json_list(tile.scores), json_number(tile.m), json_number(tile.alpha), json_list(tile.p),
      json_number(tile.l), json_list(tile.a), json_list(tile.output));
}

}  // namespace

std::string to_json(const Report& report) {
  std::vector<std::string> tiles;
  for (const TileRecord& tile : report.tiles) tiles.push_back(json_tile(tile, tiles.size()));
  return fmt::format(R"({{"tiles":[{}],"output":{},"dense":{{"weights":{},"output":{}}},"bug":{}}})"
                     "\n",
                     fmt::join(tiles, ","), json_list(report.output()),
                     json_list(report.dense.weights), json_list(report.dense.output),
                     report.bug ? fmt::format("\"{}\"", report.bug->name) : "null");
}

}  // namespace workshop
