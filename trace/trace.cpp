// SPDX-License-Identifier: MIT
#include "trace.hpp"

#include "report.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/attention/mutation.hpp"
#include "common/harness/command_line.hpp"

namespace workshop {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr const char* kLogits = "0,0;log(2)";  // the example worked out on the page
constexpr const char* kValues = "1,3;10";

std::vector<std::string_view> bug_names() {
  std::vector<std::string_view> names;
  for (const MutationInfo& info : kMutations) names.push_back(info.name);
  return names;
}

void add_options(CommandLine& line) {
  line.add_option("--logits", "tiles by ';', keys by ','",
                  fmt::format("such as \"{}\", the default", kLogits));
  line.add_option("--values", "likewise, columns of a value by ':'",
                  fmt::format("such as \"{}\", the default", kValues));
  line.add_option("--qkv", "safetensors with q, k and v, instead of the two above", "a file");
  line.add_option("--row", "the query of the file", "0 to N - 1 in plain digits");
  line.add_option("--block-n", "keys a tile holds, 32 by default",
                  "1 to 2147483647 in plain digits");
  line.add_flag("--causal", "the query sees no key after its own row");
  line.add_option("--bug", "mistake", fmt::format("{}", fmt::join(bug_names(), ", ")));
  line.add_option("--format", "a table by default", "table, json");
}

/// Options that say the same thing twice, or nothing without another.
void require_companions(const CommandLine& line) {
  constexpr std::pair<const char*, const char*> kPartners[] = {{"--logits", "--values"},
                                                               {"--values", "--logits"},
                                                               {"--qkv", "--row"},
                                                               {"--row", "--qkv"},
                                                               {"--block-n", "--qkv"}};
  for (const auto& [option, partner] : kPartners) {
    if (line.has(option) && !line.has(partner)) {
      throw Refusal(fmt::format("{} '{}' is given without {}; allowed: {} with {}", option,
                                *line.value(option), partner, option, partner));
    }
  }
  if (line.has("--causal") && !line.has("--qkv")) {
    throw Refusal("--causal is given without --qkv; allowed: --causal with --qkv");
  }
  if (line.has("--qkv") && line.has("--logits")) {
    throw Refusal(fmt::format("--qkv '{}' and --logits '{}' are both given; allowed: one of them",
                              *line.value("--qkv"), *line.value("--logits")));
  }
}

Query query_of(const CommandLine& line) {
  if (const auto file = line.value("--qkv")) {
    const auto row = line.number("--row", 0, kMaxInt);
    const auto block_n = line.number("--block-n", 1, kMaxInt);
    return file_query(*file, int(*row), int(block_n.value_or(32)),
                      line.has("--causal") ? Mask::causal : Mask::none);
  }
  return hand_query(line.value("--logits").value_or(kLogits),
                    line.value("--values").value_or(kValues));
}

std::optional<MutationInfo> bug_of(const CommandLine& line) {
  const auto name = line.choice("--bug", bug_names());
  return name ? find_mutation(*name) : std::nullopt;
}

}  // namespace

std::string trace_text(const std::vector<std::string>& arguments) {
  CommandLine line("./workshop trace",
                   "The online softmax of one query, tile by tile: every number that it carries");
  add_options(line);
  if (!line.parse(arguments)) return {};
  require_companions(line);
  const auto format = line.choice("--format", {"table", "json"});

  Report report{.query = {}, .tiles = {}, .dense = {}, .bug = bug_of(line), .wrong_step = {}};
  report.query = query_of(line);
  report.tiles = replay(report.query, report.bug ? report.bug->mutation : Mutation::none);
  report.dense = dense_row(report.query);
  if (report.bug) {
    report.wrong_step = first_wrong_step(report.tiles, replay(report.query, Mutation::none));
  }
  return format == "json" ? to_json(report) : to_table(report);
}

}  // namespace workshop
