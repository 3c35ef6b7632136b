// SPDX-License-Identifier: MIT
/// @file
/// How a launch adds to what simt::cpu::counts() gives.
#pragma once

#include "common/device/cpu/cpu_device.hpp"

namespace simt::cpu {

void add_counts(const Counts& counts);

}  // namespace simt::cpu
