// SPDX-License-Identifier: MIT
/// @file
/// How a reader names a stage: "3", "stage3" or "stage3_masking"; and one step of stage 4:
/// "4.1", "stage4_tuning/step1_tile_width", "step1_tile_width", "stage4_tuning_step1", or its number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/attention/stages.hpp"
#include "common/harness/command_line.hpp"

namespace workshop {

/// Whether `text` is the name of a stage, now or later: "3", "stage12", "stage3_masking".
bool could_name_a_stage(const std::string& text);

/// @param step        a step of the stage; without it the last that a device of `capability` runs,
///                    where the name leaves that open
/// @param capability  the compute capability of the device, 75 for 7.5
/// @throws Refusal naming all stages, or, for a step that is none of them, its steps
const Stage& stage_named(const std::string& text, std::optional<std::uint64_t> step = {},
                         int capability = kAnyCapability);

/// STAGE and --step.
void declare_stage_options(CommandLine& line, const std::string& which);

/// The one stage that STAGE and --step of a command line name; nullptr if there is no STAGE.
/// @throws Refusal as stage_named, or for a --step without a STAGE
const Stage* chosen_stage(const CommandLine& line, int capability = kAnyCapability);

/// Each stage once: of one with steps the last that a device of `capability` runs.
std::vector<const Stage*> all_stages(int capability = kAnyCapability);

}  // namespace workshop
