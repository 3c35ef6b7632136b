// SPDX-License-Identifier: MIT
/// @file
/// The CPU side of common/device/simt.hpp, which documents these names.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "common/device/cpu/async_copies.hpp"
#include "common/device/cpu/cuda_names.hpp"
#include "common/device/cpu/runtime.hpp"
#include "common/device/cpu/tensor_core.hpp"
#include "common/device/launch_config.hpp"
#include "common/device/pack.hpp"
#include "common/device/reduce.hpp"

namespace simt {

using workshop::from_float;
using workshop::to_float;

/// Runs the kernel to its end. Every thread gets its own copy of what the kernel takes by value.
/// @throws DeviceError if CUDA would refuse the launch
/// @throws KernelFault if the kernel does what CUDA does not define
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a launch gives the kernel as many arguments as it has parameters");
  const auto call = [&] { kernel(arguments...); };
  const auto invoke = [](const void* closure) { (*static_cast<decltype(&call)>(closure))(); };
  cpu::run_grid(config.grid, config.block, config.shared_bytes, config.stream,
                {config.file, config.line}, {invoke, &call});
}

/// @throws KernelFault if the launch gave less than a T
template <typename T>
T* dynamic_shared() {
  static_assert(alignof(T) <= 128, "the shared memory of a block is 128-byte aligned");
  return static_cast<T*>(cpu::dynamic_shared_memory(sizeof(T)));
}

template <int Lanes>
float reduce_max(float x, cpu::Site site = cpu::Site::here()) {
  static_assert(kPowerOfTwoLanes<Lanes>, "a row has 1, 2, 4, ..., 32 lanes");
  return cpu::reduce(cpu::ReduceMode::max, Lanes, x, site);
}

template <int Lanes>
float reduce_sum(float x, cpu::Site site = cpu::Site::here()) {
  static_assert(kPowerOfTwoLanes<Lanes>, "a row has 1, 2, 4, ..., 32 lanes");
  return cpu::reduce(cpu::ReduceMode::sum, Lanes, x, site);
}

/// @throws KernelFault if the address is no multiple of 4
template <typename Element>
unsigned load_pair(const Element* two, cpu::Site site = cpu::Site::here()) {
  cpu::require_aligned(two, sizeof(unsigned), site);
  unsigned pair;
  std::memcpy(&pair, two, sizeof(pair));
  return pair;
}

template <typename Element>
unsigned pack(float lo, float hi) {
  return pack(from_float<Element>(lo), from_float<Element>(hi));
}

template <typename Element>
void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                  cpu::Site site = cpu::Site::here()) {
  constexpr bool kIsFp16 = std::is_same_v<Element, workshop::Half>;
  static_assert(kIsFp16 || std::is_same_v<Element, workshop::BFloat16>, "Half or BFloat16");
  cpu::mma_m16n8k16(kIsFp16 ? workshop::ElementType::fp16 : workshop::ElementType::bf16, d, a, b0,
                    b1, site);
}

inline void ldmatrix_x4(unsigned (&r)[4], const void* row, cpu::Site site = cpu::Site::here()) {
  cpu::ldmatrix_x4(false, r, row, site);
}

inline void ldmatrix_x4_trans(unsigned (&r)[4], const void* row,
                              cpu::Site site = cpu::Site::here()) {
  cpu::ldmatrix_x4(true, r, row, site);
}

inline void cp_async16(void* smem, const void* global, bool valid = true,
                       cpu::Site site = cpu::Site::here()) {
  cpu::start_async_copy(smem, global, valid, site);
}

inline void cp_async_commit() { cpu::commit_async_copies(); }

template <int kPending>
void cp_async_wait() {
  static_assert(kPending >= 0, "how many of the newest groups may be under way");
  cpu::wait_for_async_copies(kPending);
}

template <int N>
void trace(int q_row, int n_block, float m, float alpha, float l, const float (&acc_o)[N]) {
  if (cpu::tracing()) cpu::record({blockIdx, threadIdx, q_row, n_block, m, alpha, l, acc_o});
}

template <int N>
void trace(int q_row, int n_block, const float (&m)[2], const float (&alpha)[2],
           const float (&l)[2], const float (&acc_o)[N][4]) {
  if (!cpu::tracing()) return;
  for (int half = 0; half < 2; ++half) {
    float row[2 * N];
    for (int i = 0; i < 2 * N; ++i) row[i] = acc_o[i / 2][2 * half + i % 2];
    trace(q_row + 8 * half, n_block, m[half], alpha[half], l[half], row);
  }
}

}  // namespace simt
