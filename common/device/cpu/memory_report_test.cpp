// SPDX-License-Identifier: MIT
/// @file
/// Every report about memory, each from a kernel that commits the fault, and the poison of shared
/// memory. AddressSanitizer stops at the faults itself, with the line; then only the rest is here.
#include <cmath>
#include <cstdint>

#include "common/device/cpu/sanitizer_stack.hpp"
#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"

namespace {

__global__ void reads_before_it_writes(float* out) {
  float* shared = simt::dynamic_shared<float>();
  out[blockIdx.x] = shared[0];
  __syncthreads();
  shared[threadIdx.x] = 1;
}

struct Large {
  float values[100];
};

__global__ void wants_more_than_the_launch_gives() { simt::dynamic_shared<Large>()->values[0] = 1; }

__global__ void needs_a_large_stack(int* out) {
  volatile char frame[600 * 1024];
  for (char& byte : const_cast<char(&)[600 * 1024]>(frame)) byte = 1;
  *out = frame[threadIdx.x];
}

__global__ void fills_shared_memory(unsigned bytes) {
  auto* shared = simt::dynamic_shared<unsigned char>();
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) shared[i] = 0;
}

#if !WORKSHOP_ADDRESS_SANITIZER

__global__ void writes_byte(int offset) {
  if (threadIdx.x == 2) simt::dynamic_shared<unsigned char>()[offset] = 1;
}

constexpr int kBarrierBeforeRead = __LINE__ + 2;
__global__ void reads_float(int index, float* out) {
  __syncthreads();
  if (threadIdx.x == 33 && blockIdx.x == 1) *out = simt::dynamic_shared<float>()[index];
}

__global__ void reads_nowhere(const int* nowhere, int* out) { *out = *nowhere; }

__device__ int recurses(int depth) {
  volatile int frame[256] = {depth};
  return depth == 0 ? 0 : recurses(depth - 1) + frame[0];
}

__global__ void recurses_for_long(int* out) {
  if (threadIdx.x == 1) *out = recurses(1'000'000);
}

#if defined(__x86_64__) && defined(__OPTIMIZE__)  // where the compiler takes an aligned instruction
__global__ void copies_a_vector(const float* from, float* to) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from + threadIdx.x);
}
#endif

#endif

}  // namespace

TEST_CASE("shared memory that no thread has written reads as NaN, in every block") {
  float out[8] = {};
  CHECK(report_of({8, 32, 32 * sizeof(float), nullptr}, reads_before_it_writes, out).empty());
  for (const float x : out) CHECK(std::isnan(x));
}

TEST_CASE("every byte of shared memory can be used") {
  for (const unsigned bytes : {1u, 100u, 128u, 4096u, 23232u, 227u * 1024u}) {
    CHECK(report_of({2, 64, bytes, nullptr}, fills_shared_memory, bytes).empty());
  }
}

TEST_CASE("a launch that gives less shared memory than the kernel takes is reported") {
  CHECK_THAT(
      report_of({1, 32, 396, nullptr}, wants_more_than_the_launch_gives),
      ContainsSubstring("too little shared memory: thread (0,0,0) of block (0,0,0) asks for 400 "
                        "bytes of dynamic shared memory, but the launch gave 396"));
}

TEST_CASE("a larger stack can be asked for") {
  const KeptSettings kept;
  simt::cpu::settings().stack_bytes = 1 << 20;
  int out = 0;
  CHECK(report_of({1, 2, 0, nullptr}, needs_a_large_stack, &out).empty());
  CHECK(out == 1);
}

#if !WORKSHOP_ADDRESS_SANITIZER

TEST_CASE("an access behind shared memory is reported at once, with its thread") {
  float out = 0;
  const std::string report = report_of({2, 64, 256, nullptr}, reads_float, 64, &out);
  CHECK_THAT(report, ContainsSubstring("shared memory overrun: thread (33,0,0) of block (1,0,0) "
                                       "accesses byte 256 of 256 bytes"));
  CHECK_THAT(report, ContainsSubstring("after __syncthreads() cpu/memory_report_test.cpp:" +
                                       std::to_string(kBarrierBeforeRead)));
  CHECK_THAT(report_of({1, 32, 4096, nullptr}, writes_byte, 8191),
             ContainsSubstring("byte 8191 of"));
}

TEST_CASE("an access before shared memory is reported at once") {
  CHECK_THAT(report_of({1, 32, 4096, nullptr}, writes_byte, -1),
             ContainsSubstring("thread (2,0,0) of block (0,0,0) accesses byte -1 of 4096 bytes"));
}

TEST_CASE("a write into the slack around shared memory is reported when the block ends") {
  for (const int offset : {100, 127, -1, -3000}) {
    CHECK_THAT(
        report_of({1, 32, 100, nullptr}, writes_byte, offset),
        ContainsSubstring("a thread of block (0,0,0) wrote at byte " + std::to_string(offset) +
                          " of 100 bytes of dynamic shared memory"));
  }
  CHECK(report_of({1, 32, 100, nullptr}, writes_byte, 99).empty());
}

TEST_CASE("an access to no memory at all is reported with its address") {
  int out = 0;
  CHECK_THAT(
      report_of({1, 32, 0, nullptr}, reads_nowhere, reinterpret_cast<const int*>(0x10), &out),
      ContainsSubstring("illegal address: thread (0,0,0) of block (0,0,0) accesses 0x10"));
}

TEST_CASE("a stack that overflows is reported with its thread") {
  int out = 0;
  CHECK_THAT(
      report_of({1, 32, 0, nullptr}, recurses_for_long, &out),
      ContainsSubstring("stack overflow: thread (1,0,0) of block (0,0,0) needs more than its "
                        "131072 bytes of stack"));
}

#if defined(__x86_64__) && defined(__OPTIMIZE__)
TEST_CASE("a misaligned vector is reported with its thread") {
  alignas(16) float from[8] = {};
  alignas(16) float to[4];
  CHECK(report_of({1, 1, 0, nullptr}, copies_a_vector, from, to).empty());
  CHECK_THAT(report_of({1, 2, 0, nullptr}, copies_a_vector, from, to),
             ContainsSubstring("misaligned access: thread (1,0,0) of block (0,0,0)"));
}
#endif

TEST_CASE("after a fault of memory the device works") {
  for (int repeat = 0; repeat < 3; ++repeat) {
    CHECK(!report_of({3, 64, 4096, nullptr}, writes_byte, 4096).empty());
    CHECK(report_of({3, 64, 4096, nullptr}, writes_byte, 4095).empty());
  }
}

#endif
