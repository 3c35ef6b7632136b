// SPDX-License-Identifier: MIT
/// @file
/// The trace for people: a line a tile where the numbers fit, else a paragraph a tile.
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace workshop {
namespace {

constexpr std::size_t kMaxWidth = 100;
constexpr std::size_t kMaxShown = 7;  // numbers of a list; of a longer one the first and last three
constexpr std::size_t kEnds = 3;

constexpr std::string_view kMeaning =
    "scores  q k / sqrt(D) of the tile's keys, or the logits given\n"
    "m       the largest score so far; it starts at -inf\n"
    "alpha   exp(m before - m): takes l and a to the new maximum; 0 on the first tile\n"
    "p       exp(score - m)\n"
    "l       alpha l + sum of p\n"
    "a       alpha a + sum of p v\n"
    "output  a / l: attention over the keys seen so far\n";

std::string short_number(double number) {
  return std::isnan(number) ? "nan" : fmt::format("{:.4g}", number);  // a NaN's sign means nothing
}

std::string short_list(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.size() <= kMaxShown || i < kEnds || i + kEnds >= numbers.size()) {
      texts.push_back(short_number(numbers[i]));
    } else if (i == kEnds) {
      texts.push_back(fmt::format("({} more)", numbers.size() - 2 * kEnds));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "1.729 at key 2", for a list in which the ellipsis may hide it.
std::string largest_of(const std::vector<double>& numbers, int first_key) {
  const auto largest = std::max_element(numbers.begin(), numbers.end());
  return fmt::format("{} at key {}", short_number(*largest),
                     first_key + (largest - numbers.begin()));
}

std::string wrong_note(const WrongStep& step) {
  return fmt::format("{} should be {}", step.what, short_number(step.expected));
}

// A line a tile.

constexpr std::size_t kColumns = 9;
using Cells = std::array<std::string, kColumns>;

std::vector<Cells> cells_of(const Report& report) {
  std::vector<Cells> lines = {{"tile", "scores", "m", "alpha", "p", "l", "a", "output", ""}};
  for (const TileRecord& tile : report.tiles) {
    const std::size_t index = lines.size() - 1;
    const bool wrong = report.wrong_step && report.wrong_step->tile == index;
    lines.push_back({std::to_string(index), short_list(tile.scores), short_number(tile.m),
                     short_number(tile.alpha), short_list(tile.p), short_number(tile.l),
                     short_list(tile.a), short_list(tile.output),
                     wrong ? "<- " + wrong_note(*report.wrong_step) : ""});
  }
  return lines;
}

std::array<std::size_t, kColumns> widths_of(const std::vector<Cells>& lines) {
  std::array<std::size_t, kColumns> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  return widths;
}

std::string aligned(const std::vector<Cells>& lines) {
  const auto widths = widths_of(lines);
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

bool fits_in_lines(const std::vector<Cells>& lines) {
  const auto widths = widths_of(lines);
  return std::accumulate(widths.begin(), widths.end(), 2 * (kColumns - 1)) <= kMaxWidth;
}

// A paragraph a tile.

std::string tile_heading(std::size_t first_tile, std::size_t last_tile, int first_key,
                         int last_key) {
  if (first_tile == last_tile) {
    return fmt::format("tile {}, keys {} to {}", first_tile, first_key, last_key);
  }
  return fmt::format("tiles {} to {}, keys {} to {}", first_tile, last_tile, first_key, last_key);
}

int last_key_of(const TileRecord& tile) { return tile.first_key + int(tile.scores.size()) - 1; }

std::string paragraph(const Report& report, std::size_t index) {
  const TileRecord& tile = report.tiles[index];
  std::string text = fmt::format(
      "{}; largest score {}\n"
      "  m {}   alpha {}   l {}\n  scores  {}\n  p       {}\n  a       {}\n  output  {}\n",
      tile_heading(index, index, tile.first_key, last_key_of(tile)),
      largest_of(tile.scores, tile.first_key), short_number(tile.m), short_number(tile.alpha),
      short_number(tile.l), short_list(tile.scores), short_list(tile.p), short_list(tile.a),
      short_list(tile.output));
  if (report.wrong_step && report.wrong_step->tile == index) {
    text += fmt::format("  <- {}\n", wrong_note(*report.wrong_step));
  }
  return text;
}

std::string paragraphs(const Report& report) {
  std::string text;
  for (std::size_t tile = 0; tile < report.tiles.size(); ++tile) {
    if (report.tiles[tile].visible()) {
      text += paragraph(report, tile) + "\n";
    } else {  // under the causal mask such a tile is followed by none but its like
      text += fmt::format("{}: all in the future, so m, l and a stay as they are\n\n",
                          tile_heading(tile, report.tiles.size() - 1, report.tiles[tile].first_key,
                                       last_key_of(report.tiles.back())));
      break;
    }
  }
  text.pop_back();
  return text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Arguments with which the output of a buggy run is wrong, not only a step of it.
std::string_view example_of(Mutation mutation) {
  switch (mutation) {
    case Mutation::tile_max:
      return "--bug tile-max --logits \"800;0\" --values \"1;3\"";
    case Mutation::no_max:
      return "--bug no-max --logits \"800;801\" --values \"1;3\"";
    case Mutation::forgot_to_rescale_l:
      return "--bug forgot-to-rescale-l";
    default:
      return "--bug forgot-to-rescale-a";
  }
}

std::string bug_section(const Report& report) {
  std::string text = fmt::format("bug {}: {}\n", report.bug->name, report.bug->mistake);
  if (const auto& step = report.wrong_step) {
    text +=
        fmt::format("  first wrong step: tile {}, where {} is {} and should be {}\n", step->tile,
                    step->what, short_number(step->value), short_number(step->expected));
  } else {
    text += "  no step is wrong: on these scores the bug does not show\n";
  }
  if (same_output(report.output(), report.dense.output)) {
    text += fmt::format(
        "  the output is right all the same; it goes wrong\n    {}\n"
        "  as in\n    ./workshop trace {}\n",
        report.bug->shows, example_of(report.bug->mutation));
  } else {
    text += fmt::format("  output     {}\n  should be  {}\n", short_list(report.output()),
                        short_list(report.dense.output));
  }
  return text + "\n";
}

std::string dense_section(const DenseRow& dense) {
  const std::size_t keys = dense.weights.size();
  std::string text = fmt::format("dense softmax, {} at once\n  weights  {}\n", counted(keys, "key"),
                                 short_list(dense.weights));
  if (keys > kMaxShown) text += fmt::format("  largest  {}\n", largest_of(dense.weights, 0));
  return text + fmt::format("  output   {}\n\n", short_list(dense.output));
}

/// What was not shown yet.
std::string next_section(const Report& report) {
  const bool from_file = report.query.q.cols > 1;
  std::string text = "next\n";
  if (!report.bug) text += "  ./workshop trace --bug forgot-to-rescale-a\n";
  if (!from_file) {
    text += "  ./workshop trace --qkv common/data/minilm_l0_h2_n332_f16.safetensors --row 331\n";
  }
  text += "  the same command with --format json: every number, all digits\n";
  text += "  trace/README.md: these steps worked out, and what each bug does\n";
  text += "  stage2_online_softmax/: the kernel that takes these steps\n";
  return text;
}

}  // namespace

std::string to_table(const Report& report) {
  const std::size_t keys = report.dense.weights.size();
  std::string title = "Online softmax: " + report.query.title;
  if (title.size() > kMaxWidth) title = title.substr(0, kMaxWidth - 3) + "...";
  std::string text = fmt::format("{}\n{} in {}\n\n", title, counted(keys, "key"),
                                 counted(report.tiles.size(), "tile"));
  const std::vector<Cells> lines = cells_of(report);
  text += fits_in_lines(lines) ? aligned(lines) : paragraphs(report);
  text += "\n" + dense_section(report.dense);
  if (report.bug) text += bug_section(report);
  return text + std::string(kMeaning) + "\n" + next_section(report);
}

}  // namespace workshop
