// SPDX-License-Identifier: MIT
/// @file
/// On which device a command runs a stage's programs: the option --device, and whether a GPU answers.
#pragma once

#include <optional>

#include "common/harness/command_line.hpp"

namespace workshop {

/// Which devices a command uses; automatic: all that are there.
enum class DeviceChoice { automatic, cpu, gpu };

void declare_device_option(CommandLine& line);

/// @throws Refusal
DeviceChoice device_choice(const CommandLine& line);

/// The compute capability of the first GPU, 90 for the "9.0" of nvidia-smi; none if no program of
/// this build can run on a GPU.
std::optional<int> gpu_capability();

/// Where the reader asked for a GPU and gpu_capability() is none.
/// @throws std::runtime_error saying what is missing
[[noreturn]] void fail_without_gpu();

}  // namespace workshop
