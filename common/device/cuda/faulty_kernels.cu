// SPDX-License-Identifier: MIT
/// @file
/// Launches that a GPU refuses, and kernels that it stops.
#include "common/device/cuda/faulty_kernels.hpp"
#include "common/device/simt.hpp"

namespace simt::cuda {
namespace {

__global__ void store(float* where) { *where = 1; }

}  // namespace

void launch_store(float* where, Stream stream) { launch({1, 1, 0, stream}, store, where); }

void launch_too_many_threads(Stream stream) {
  launch({1, 2048, 0, stream}, store, static_cast<float*>(nullptr));
}

void launch_too_much_shared_memory() {
  launch({1, 1, std::size_t(1) << 20, nullptr}, store, static_cast<float*>(nullptr));
}

}  // namespace simt::cuda
