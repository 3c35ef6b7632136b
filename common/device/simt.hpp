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
///   | simt::pack(lo, hi), simt::pack<E>(x, y) | two elements, or two floats rounded, in one register  |
///   | simt::mma_m16n8k16<E>(d, a, b0, b1)     | mma.sync: d += a b of a warp on tensor cores          |
///   | simt::ldmatrix_x4(r, row), .._trans     | ldmatrix: four 8 x 8 matrices from shared memory      |
///   | simt::cp_async16(smem, global, valid)   | cp.async: starts a copy of 16 bytes, or of zeros      |
///   | simt::cp_async_commit()                 | cp.async.commit_group: closes a group of copies       |
///   | simt::cp_async_wait<P>()                | cp.async.wait_group: all but P groups are there       |
///   | simt::trace(...)                        | a line in a trace on the CPU device, nothing on a GPU |
///
/// From mma on these need compute capability 8.0: a launcher calls simt::require_compute_capability(80).
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
