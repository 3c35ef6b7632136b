// SPDX-License-Identifier: MIT
/// @file
/// How a reader names a stage: "3", "stage3" or "stage3_masking".
#pragma once

#include <string>

#include "common/attention/stages.hpp"

namespace workshop {

/// Whether `text` is the name of a stage, now or later: "3", "stage12", "stage3_masking".
bool could_name_a_stage(const std::string& text);

/// @throws Refusal naming all stages
const Stage& stage_named(const std::string& text);

}  // namespace workshop
