// SPDX-License-Identifier: MIT
/// @file
/// The GPU's side of simt.hpp: thin names for what CUDA has (and ptx.cuh for what only PTX has).
#pragma once

#include <utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/device/cuda/cuda_check.hpp"
#include "common/device/cuda/ptx.cuh"
#include "common/device/launch_config.hpp"
#include "common/device/reduce.hpp"

namespace simt {

/// Launches; does not wait.
/// @throws DeviceError naming the launch, if the device would not take it
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  constexpr std::size_t kWithoutOptIn = 48 * 1024;
  cuda::before_launch(config.file, config.line);
  if (config.shared_bytes > kWithoutOptIn) {
    cuda::check(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(config.shared_bytes)),
        "asking for more than 48 KiB of shared memory", config.file, config.line);
  }
  kernel<<<config.grid, config.block, config.shared_bytes, config.stream>>>(
      static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  cuda::after_launch(config.file, config.line);
}

/// The dynamic shared memory of the block.
template <typename T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}

__device__ __forceinline__ float to_float(workshop::Half half) {
  return __half2float(__ushort_as_half(half.bits));
}
__device__ __forceinline__ float to_float(workshop::BFloat16 value) {
  return __bfloat162float(__ushort_as_bfloat16(value.bits));
}

/// Rounds to nearest, ties to even.
template <typename Element>
__device__ Element from_float(float value);
template <>
__device__ __forceinline__ workshop::Half from_float<workshop::Half>(float value) {
  return {__half_as_ushort(__float2half_rn(value))};
}
template <>
__device__ __forceinline__ workshop::BFloat16 from_float<workshop::BFloat16>(float value) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
}

/// Two neighbouring elements in one register.
template <typename Element>
__device__ __forceinline__ unsigned load_pair(const Element* two) {
  return *reinterpret_cast<const unsigned*>(two);
}

/// A record of a row's state after a tile on the CPU device; nothing here.
template <int kColumns>
__device__ __forceinline__ void trace(int /*q_row*/, int /*n_block*/, float /*m*/, float /*alpha*/,
                                      float /*l*/, const float (&/*acc_o*/)[kColumns]) {}
template <int kTiles>
__device__ __forceinline__ void trace(int /*q_row*/, int /*n_block*/, const float (&/*m*/)[2],
                                      const float (&/*alpha*/)[2], const float (&/*l*/)[2],
                                      const float (&/*acc_o*/)[kTiles][4]) {}

}  // namespace simt
