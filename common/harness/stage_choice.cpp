// SPDX-License-Identifier: MIT
#include "common/harness/stage_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/attention/problem.hpp"

namespace workshop {
namespace {

/// "step1_tile_width" of "stage4_tuning/step1_tile_width".
std::string_view last_part(std::string_view folder) { return folder.substr(folder.rfind('/') + 1); }

std::string_view without_slash(std::string_view text) {
  return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

/// Whether `text` means this very stage or step.
bool names_it(const Stage& stage, std::string_view text) {
  return text == stage.name || text == stage.folder || text == last_part(stage.folder) ||
         (stage.step != 0 && text == fmt::format("{}.{}", stage.number, stage.step));
}

/// Whether `text` means the stage that this is, or that this is a step of.
bool names_number(const Stage& stage, std::string_view text) {
  return text == std::to_string(stage.number) || text == fmt::format("stage{}", stage.number) ||
         text == stage.folder.substr(0, stage.folder.find('/'));
}

/// @returns nullptr if `text` names no stage
const Stage* find_stage(std::string_view text, int capability) {
  const Stage* found = nullptr;
  for (const Stage& stage : kStages) {
    if (names_it(stage, without_slash(text))) return &stage;
    if (stage.compute_capability > capability) continue;
    if (names_number(stage, without_slash(text))) found = &stage;
  }
  return found;
}

std::string all_names() {
  std::string names;
  for (const Stage& stage : kStages) {
    if (!names.empty()) names += ", ";
    if (stage.step <= 1) names += fmt::format("{} or ", stage.number);
    names += stage.folder;
  }
  return names;
}

/// "4 with --step 1, 2"
std::string all_steps() {
  std::string steps;
  for (const Stage& stage : kStages) {
    if (stage.step == 0) continue;
    steps += stage.step == 1 ? fmt::format("{} with --step 1", stage.number)
                             : fmt::format(", {}", stage.step);
  }
  return steps;
}

}  // namespace

bool could_name_a_stage(const std::string& text) {
  const std::string digits = text.starts_with("stage") ? text.substr(5) : text;
  return find_stage(text, kAnyCapability) != nullptr ||
         (!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos);
}

const Stage& stage_named(const std::string& text, std::optional<std::uint64_t> step,
                         int capability) {
  const Stage* found = find_stage(text, capability);
  if (found == nullptr) {
    throw Refusal(fmt::format("stage '{}'; allowed: {}", text, all_names()));
  }
  if (!step) return *found;
  const auto chosen = std::ranges::find_if(kStages, [&](const Stage& stage) {
    return stage.step != 0 && std::uint64_t(stage.step) == *step &&
           names_number(stage, without_slash(text));
  });
  if (chosen == std::end(kStages)) {
    throw Refusal(fmt::format("--step '{}' of stage '{}'; allowed: {}", *step, text, all_steps()));
  }
  return *chosen;
}

void declare_stage_options(CommandLine& line, const std::string& which) {
  line.add_positional("STAGE", which, "a number, stage3, or the name of its folder");
  line.add_option("--step", "which step of a stage that has them (the last)", "a whole number");
}

const Stage* chosen_stage(const CommandLine& line, int capability) {
  const auto step = line.number("--step", 1, UINT64_MAX);
  if (const auto name = line.value("STAGE")) return &stage_named(*name, step, capability);
  if (step) line.refuse("--step", "a step of the STAGE given, for example 4 --step 1");
  return nullptr;
}

std::vector<const Stage*> all_stages(int capability) {
  std::vector<const Stage*> stages;
  for (const Stage& stage : kStages) {
    if (stage.compute_capability > capability) continue;
    if (!stages.empty() && stages.back()->number == stage.number) stages.pop_back();
    stages.push_back(&stage);
  }
  return stages;
}

}  // namespace workshop
