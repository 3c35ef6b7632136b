// SPDX-License-Identifier: MIT
/// @file
/// Every CUDA call goes through here: none fails unseen, and each failure says which call it was.
#pragma once

#include <cuda_runtime_api.h>

namespace simt::cuda {

/// Does nothing on cudaSuccess.
/// @param what  the call, or the launch, that returned `status`
/// @throws DeviceError naming the call, its place and what to do; KernelFault where a kernel ran wild
void check(cudaError_t status, const char* what, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

/// The checks around a launch: nothing may be pending before it, so that what is pending after it is
/// its own.
/// @throws DeviceError naming the launch by its file and line
void before_launch(const char* file, int line);
void after_launch(const char* file, int line);

}  // namespace simt::cuda
