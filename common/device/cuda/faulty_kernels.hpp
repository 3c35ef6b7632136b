// SPDX-License-Identifier: MIT
/// @file
/// For device_test.cpp, which the host's compiler compiles.
#pragma once

#include "common/device/device.hpp"

namespace simt::cuda {

/// One thread that stores a float at an address.
void launch_store(float* where, Stream stream = nullptr);
void launch_too_many_threads(Stream stream = nullptr);
void launch_too_much_shared_memory();

}  // namespace simt::cuda
