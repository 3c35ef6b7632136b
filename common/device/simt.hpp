// SPDX-License-Identifier: MIT
/// @file
/// The one device header a kernel file includes. Under nvcc a kernel is CUDA and these names are thin; under
/// a plain C++20 compiler the same file runs on the CPU device, where every CUDA thread is a fiber.
///
///   | name                                    | what it stands for                                    |
///   |-----------------------------------------|-------------------------------------------------------|
///   | simt::launch(config, kernel, args...)   | kernel<<<grid, block, shared_bytes, stream>>>(args...) |
///   | simt::dynamic_shared<T>()               | the block's dynamic shared memory, as a T             |
///   | simt::to_float, simt::from_float<E>     | widen a 16-bit element; round to nearest even         |
///   | simt::reduce_max<L>, simt::reduce_sum<L> | over the L neighbouring lanes that share a row       |
///   | simt::load_pair(pointer)                | two neighbouring elements in one register             |
///   | simt::trace(...)                        | a line in a trace on the CPU device, nothing on a GPU |
///
/// All else in a kernel is CUDA's own: __global__, threadIdx, __syncthreads(), __shfl_xor_sync(), ...
#pragma once

#include "common/attention/element.hpp"
#include "common/device/device.hpp"

#if defined(__CUDACC__)
#include "common/device/cuda/simt_cuda.cuh"
#else
#include "common/device/cpu/simt_cpu.hpp"
#endif
