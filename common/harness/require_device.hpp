// SPDX-License-Identifier: MIT
/// @file
/// What every test that needs the device begins with.
#pragma once

#include <cstdlib>

#include <fmt/format.h>

#include "common/device/device.hpp"

namespace workshop {

/// Ends the test program where there is no GPU, or none of this compute capability: ctest reads the
/// line and counts the case as skipped. A GPU that fails otherwise is an error like any other.
inline void require_device(int compute_capability = 0) {
  try {
    simt::device_info();
    simt::require_compute_capability(compute_capability);
  } catch (const simt::NoDevice& error) {
    fmt::print("skipped: no GPU ({})\n", error.what());
    std::exit(0);
  }
}

}  // namespace workshop
