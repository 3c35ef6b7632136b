// SPDX-License-Identifier: MIT
/// @file
/// Instructions that CUDA C++ has no function for, as inline PTX (PTX ISA, sections "mma", "ldmatrix"
/// and "cp.async"). They need compute capability 8.0; below it they compile to a trap, and the host
/// asks first (simt::require_compute_capability).
///
/// All are volatile, so the compiler keeps their order among each other. Those that read or write
/// shared memory also clobber "memory": no load or store of the kernel, and no barrier, may move past
/// them, for the compiler does not see from the operands what they touch.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/attention/element.hpp"
#include "common/device/pack.hpp"

namespace simt {

namespace cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool kHasTensorCoreAndAsyncCopy = false;
#else
inline constexpr bool kHasTensorCoreAndAsyncCopy = true;
#endif

/// What the instructions take for an address in shared memory: an offset in its window.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace cuda

/// Rounds both to nearest, ties to even: one instruction from 8.0 on.
template <typename Element>
__device__ unsigned pack(float lo, float hi);
template <>
__device__ __forceinline__ unsigned pack<workshop::Half>(float lo, float hi) {
  const __half2 both = __floats2half2_rn(lo, hi);
  return pack(workshop::Half{__half_as_ushort(both.x)}, workshop::Half{__half_as_ushort(both.y)});
}
template <>
__device__ __forceinline__ unsigned pack<workshop::BFloat16>(float lo, float hi) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(lo, hi);
  return pack(workshop::BFloat16{__bfloat16_as_ushort(both.x)},
              workshop::BFloat16{__bfloat16_as_ushort(both.y)});
}

/// d += a b of a warp.
template <typename Element>
__device__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);
template <>
__device__ __forceinline__ void mma_m16n8k16<workshop::Half>(float (&d)[4], const unsigned (&a)[4],
                                                             unsigned b0, unsigned b1) {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    __trap();
  }
}
template <>
__device__ __forceinline__ void mma_m16n8k16<workshop::BFloat16>(float (&d)[4],
                                                                 const unsigned (&a)[4],
                                                                 unsigned b0, unsigned b1) {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    __trap();
  }
}

/// Four 8 x 8 matrices from shared memory; lane i gives row i % 8 of matrix i / 8.
__device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], const void* row) {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(cuda::shared_address(row))
                 : "memory");
  } else {
    __trap();
  }
}

/// The same, each matrix transposed.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&r)[4], const void* row) {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(cuda::shared_address(row))
                 : "memory");
  } else {
    __trap();
  }
}

/// Starts a copy of 16 bytes past the registers and L1 (.cg). A source of 0 bytes is not read: the
/// 16 bytes become zero.
__device__ __forceinline__ void cp_async16(void* smem, const void* global, bool valid = true) {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(cuda::shared_address(smem)), "l"(__cvta_generic_to_global(global)),
                   "r"(valid ? 16 : 0)
                 : "memory");
  } else {
    __trap();
  }
}

__device__ __forceinline__ void cp_async_commit() {
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile("cp.async.commit_group;" : : : "memory");
  } else {
    __trap();
  }
}

/// The clobber keeps loads of what was copied behind the wait.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(kPending >= 0, "how many of the newest groups may be under way");
  if constexpr (cuda::kHasTensorCoreAndAsyncCopy) {
    asm volatile("cp.async.wait_group %0;" : : "n"(kPending) : "memory");
  } else {
    __trap();
  }
}

}  // namespace simt
