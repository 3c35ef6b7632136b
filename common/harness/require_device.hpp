// SPDX-License-Identifier: MIT
/// @file
/// What every test that needs the device begins with.
#pragma once

#include <cstdlib>

#include <fmt/format.h>

#include "common/device/device.hpp"

namespace workshop {

/// Ends the test program where there is no GPU: ctest reads the line and counts the case as skipped.
/// A GPU that is there and cannot be used is an error like any other.
inline void require_device() {
  try {
    simt::device_info();
  } catch (const simt::NoDevice& error) {
    fmt::print("skipped: no GPU ({})\n", error.what());
    std::exit(0);
  }
}

}  // namespace workshop
