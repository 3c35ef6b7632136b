// SPDX-License-Identifier: MIT
#include "common/harness/stage_choice.hpp"

#include <fmt/format.h>

#include "common/attention/problem.hpp"

namespace workshop {
namespace {

/// @returns nullptr if `text` names no stage
const Stage* find_stage(const std::string& text) {
  for (const Stage& stage : kStages) {
    if (text == std::to_string(stage.number) || text == fmt::format("stage{}", stage.number) ||
        text == stage.name || text == fmt::format("{}/", stage.name)) {
      return &stage;
    }
  }
  return nullptr;
}

}  // namespace

bool could_name_a_stage(const std::string& text) {
  const std::string digits = text.starts_with("stage") ? text.substr(5) : text;
  return find_stage(text) != nullptr ||
         (!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos);
}

const Stage& stage_named(const std::string& text) {
  if (const Stage* stage = find_stage(text)) return *stage;
  std::string names;
  for (const Stage& stage : kStages) {
    names += fmt::format("{}{} or {}", names.empty() ? "" : ", ", stage.number, stage.name);
  }
  throw Refusal(fmt::format("stage '{}'; allowed: {}", text, names));
}

}  // namespace workshop
