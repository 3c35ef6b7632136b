// SPDX-License-Identifier: MIT
/// @file
/// One instruction each, between loads and stores that any thread could do.
#include "common/device/instruction_kernels.hpp"
#include "common/device/simt.hpp"

namespace instruction_kernels {
namespace {

using workshop::BFloat16;
using workshop::ElementType;
using workshop::Half;

constexpr int kThreads = 64;  // of the kernels that copy
constexpr int kWords = 4;     // 32-bit words in a copy

template <typename Element>
__global__ void multiply_kernel(const std::uint16_t* a, const std::uint16_t* b, float* d) {
  const int lane = int(threadIdx.x);
  unsigned a_frag[4];
  for (int r = 0; r < 4; ++r) {
    a_frag[r] = simt::pack(Element{a[index_in_a(lane, 2 * r)]},  //
                           Element{a[index_in_a(lane, 2 * r + 1)]});
  }
  unsigned b_frag[2];
  for (int r = 0; r < 2; ++r) {
    b_frag[r] = simt::pack(Element{b[index_in_b(lane, 2 * r)]},  //
                           Element{b[index_in_b(lane, 2 * r + 1)]});
  }
  float d_frag[4];
  for (int i = 0; i < 4; ++i) d_frag[i] = d[index_in_d(lane, i)];
  simt::mma_m16n8k16<Element>(d_frag, a_frag, b_frag[0], b_frag[1]);
  for (int i = 0; i < 4; ++i) d[index_in_d(lane, i)] = d_frag[i];
}

__global__ void load_kernel(bool transposed, const std::uint16_t* rows, const int* row_of_lane,
                            unsigned* out) {
  auto* shared = simt::dynamic_shared<std::uint16_t>();
  const int lane = int(threadIdx.x);
  for (int i = 0; i < 8; ++i) shared[lane * 8 + i] = rows[lane * 8 + i];
  __syncwarp();
  unsigned r[4];
  const std::uint16_t* row = shared + row_of_lane[lane] * 8;
  if (transposed) {
    simt::ldmatrix_x4_trans(r, row);
  } else {
    simt::ldmatrix_x4(r, row);
  }
  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = r[i];
}

__global__ void copy_kernel(const std::uint32_t* in, int count, std::uint32_t* out) {
  auto* shared = simt::dynamic_shared<std::uint32_t>();
  const int thread = int(threadIdx.x);
  simt::cp_async16(shared + thread * kWords, in + thread * kWords, thread < count);
  simt::cp_async_commit();
  simt::cp_async_wait<0>();
  __syncthreads();
  const auto* other = reinterpret_cast<const uint4*>(shared) + (kThreads - 1 - thread);
  reinterpret_cast<uint4*>(out)[thread] = *other;
}

__device__ std::uint32_t sum_of(const uint4& words) {
  return words.x + words.y + words.z + words.w;
}

__global__ void copy_groups_kernel(const std::uint32_t* in, int tiles, std::uint32_t* sums) {
  auto* shared = simt::dynamic_shared<std::uint32_t>();
  const int thread = int(threadIdx.x);
  const auto start_copy = [&](int tile) {
    const int buffer = tile % 2;
    if (tile < tiles) {
      simt::cp_async16(shared + (buffer * kThreads + thread) * kWords,
                       in + (tile * kThreads + thread) * kWords);
    }
    simt::cp_async_commit();  // past the last tile an empty group, so that the count stays right
  };
  start_copy(0);
  std::uint32_t sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    start_copy(tile + 1);
    simt::cp_async_wait<1>();
    __syncthreads();
    const auto* buffer = reinterpret_cast<const uint4*>(shared) + tile % 2 * kThreads;
    sum += sum_of(buffer[thread ^ 1]);
    __syncthreads();
  }
  simt::cp_async_wait<0>();
  sums[thread] = sum;
}

template <typename Element>
__global__ void pack_kernel(const float* in, int count, unsigned* out) {
  const int i = int(threadIdx.x);
  const float lo = in[2 * i];
  const float hi = in[2 * i + 1];
  out[i] = simt::pack<Element>(lo, hi);
  out[count + i] = simt::pack(simt::from_float<Element>(lo), simt::from_float<Element>(hi));
}

}  // namespace

void multiply(ElementType type, const std::uint16_t* a, const std::uint16_t* b, float* d) {
  const auto kernel = type == ElementType::fp16 ? multiply_kernel<Half> : multiply_kernel<BFloat16>;
  simt::launch({1, 32, 0, nullptr}, kernel, a, b, d);
}

void load_matrices(bool transposed, const std::uint16_t* rows, const int* row_of_lane,
                   unsigned* out) {
  simt::launch({1, 32, 32 * 16, nullptr}, load_kernel, transposed, rows, row_of_lane, out);
}

void copy_through_shared(const std::uint32_t* in, int count, std::uint32_t* out) {
  simt::launch({1, kThreads, kThreads * 16, nullptr}, copy_kernel, in, count, out);
}

void copy_in_two_groups(const std::uint32_t* in, int tiles, std::uint32_t* sums) {
  simt::launch({1, kThreads, 2 * kThreads * 16, nullptr}, copy_groups_kernel, in, tiles, sums);
}

void pack_pairs(ElementType type, const float* in, int count, unsigned* out) {
  const auto kernel = type == ElementType::fp16 ? pack_kernel<Half> : pack_kernel<BFloat16>;
  simt::launch({1, unsigned(count), 0, nullptr}, kernel, in, count, out);
}

}  // namespace instruction_kernels
