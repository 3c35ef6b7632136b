// SPDX-License-Identifier: MIT
/// @file
/// mma and ldmatrix on the CPU device: how sums are rounded, what is counted, what is reported.
/// (Which lane holds what: common/device/instruction_test.cpp.)
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"

namespace {

using simt::cpu::Schedule;
using workshop::BFloat16;
using workshop::Half;

/// A line of this file as reports give it.
std::string line(int number) { return "cpu/tensor_core_test.cpp:" + std::to_string(number); }

/// What one element of D comes to, start + x[0] y[0] + ... + x[15] y[15], with Element's rounding of x
/// and y. Lane 0 holds row 0 of A with lanes 1, 2, 3; the same of column 0 of B.
struct Dot {
  float start;
  float x[16];
  float y[16];
};

template <typename Element>
__global__ void dot_product(const Dot* dot, float* out) {
  unsigned a[4] = {};
  unsigned b[2] = {};
  const unsigned lane = threadIdx.x;
  if (lane < 4) {
    for (int part = 0; part < 2; ++part) {
      const unsigned k = 2 * lane + 8 * unsigned(part);
      a[2 * part] = simt::pack<Element>(dot->x[k], dot->x[k + 1]);
      b[part] = simt::pack<Element>(dot->y[k], dot->y[k + 1]);
    }
  }
  float d[4] = {dot->start};
  simt::mma_m16n8k16<Element>(d, a, b[0], b[1]);
  if (lane == 0) *out = d[0];
}

template <typename Element>
float value_of(const Dot& dot) {
  float out = 0;
  REQUIRE(report_of({1, 32, 0, nullptr}, dot_product<Element>, &dot, &out).empty());
  return out;
}

/// Reads rows that are `stride` bytes apart, their 16-byte columns exchanged by row % 8 if `swizzled`.
__global__ void loads_rows(unsigned stride, bool swizzled, unsigned* out) {
  auto* shared = simt::dynamic_shared<unsigned char>();
  for (unsigned i = threadIdx.x; i < 32 * stride; i += 32) shared[i] = 0;
  __syncwarp();
  const unsigned column = swizzled ? threadIdx.x % 8 : 0;
  unsigned r[4];
  simt::ldmatrix_x4(r, shared + threadIdx.x * stride + column * 16);
  out[threadIdx.x] = r[0];
}

simt::cpu::Counts counts_of_loads(unsigned stride, bool swizzled = false) {
  unsigned out[32];
  simt::cpu::reset_counts();
  REQUIRE(report_of({1, 32, 32 * stride + 16, nullptr}, loads_rows, stride, swizzled, out).empty());
  return simt::cpu::counts();
}

__global__ void loads_and_multiplies(float* out) {
  auto* shared = simt::dynamic_shared<std::uint16_t>();
  for (int i = 0; i < 8; ++i) shared[threadIdx.x * 8 + i] = 0;
  __syncwarp();
  const std::uint16_t* row = shared + threadIdx.x * 8;
  unsigned a[4], b[4];
  simt::ldmatrix_x4(a, row);
  simt::ldmatrix_x4_trans(b, row);
  float d[4] = {};
  simt::mma_m16n8k16<Half>(d, a, b[0], b[1]);
  simt::mma_m16n8k16<BFloat16>(d, a, b[0], b[1]);
  simt::mma_m16n8k16<BFloat16>(d, a, b[2], b[3]);
  out[threadIdx.x] = d[0];
}

/// A lane loads what the next lane is about to write: a __syncwarp() is missing.
__global__ void loads_unordered(unsigned* out) {
  auto* shared = simt::dynamic_shared<std::uint16_t>();
  const unsigned next = (threadIdx.x + 1) % 32;
  for (int i = 0; i < 8; ++i) shared[threadIdx.x * 8 + i] = 1;
  unsigned r[4];
  simt::ldmatrix_x4(r, shared + next * 8);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
}

constexpr int kMmaWithout = __LINE__ + 5;
__global__ void multiplies_without_a_lane(float* out) {
  if (threadIdx.x == 7) return;
  const unsigned a[4] = {};
  float d[4] = {};
  simt::mma_m16n8k16<Half>(d, a, 0, 0);
  out[threadIdx.x] = d[0];
}

constexpr int kLoadWithout = __LINE__ + 4;
__global__ void loads_without_a_lane(unsigned* out) {
  if (threadIdx.x == 31) return;
  unsigned r[4];
  simt::ldmatrix_x4(r, simt::dynamic_shared<unsigned char>());
  out[threadIdx.x] = r[0];
}

__global__ void multiplies_two_types(float* out) {
  const unsigned a[4] = {};
  float d[4] = {};
  if (threadIdx.x < 16) {
    simt::mma_m16n8k16<Half>(d, a, 0, 0);
  } else {
    simt::mma_m16n8k16<BFloat16>(d, a, 0, 0);
  }
  out[threadIdx.x] = d[0];
}

constexpr int kLoad = __LINE__ + 4;
__global__ void lane_5_loads(std::ptrdiff_t offset, unsigned* out) {
  auto* shared = simt::dynamic_shared<unsigned char>();
  unsigned r[4];
  simt::ldmatrix_x4_trans(r, shared + (threadIdx.x == 5 ? offset : 0));
  out[threadIdx.x] = r[0];
}

constexpr int kLoadElsewhere = __LINE__ + 3;
__global__ void loads_from_elsewhere(const void* row, unsigned* out) {
  unsigned r[4];
  simt::ldmatrix_x4(r, row);
  out[threadIdx.x] = r[0];
}

}  // namespace

TEST_CASE("mma rounds a sum once, after the last product") {
  // 2^24 + 1 + ... + 1 (15 times): float loses each 1 that is added to 2^24 alone.
  Dot ones = {0x1p24f, {}, {}};
  for (int k = 0; k < 15; ++k) ones.x[k] = ones.y[k] = 1;
  CHECK(value_of<Half>(ones) == 0x1p24f + 16);  // 15 is half way between 14 and 16: to even
  CHECK(value_of<BFloat16>(ones) == 0x1p24f + 16);

  // The large terms cancel; what is left has passed through the sum unrounded.
  Dot cancelling = {0x1p-20f, {2048, 2048}, {2048, -2048}};
  CHECK(value_of<Half>(cancelling) == 0x1p-20f);
  CHECK(value_of<BFloat16>(cancelling) == 0x1p-20f);
}

TEST_CASE("mma takes the subnormal numbers of FP16 as they are") {
  const Dot dot = {0, {0x1p-24f, 0x1.8p-23f}, {1, 0x1p-24f}};
  CHECK(value_of<Half>(dot) == 0x1p-24f + 0x1.8p-47f);
}

TEST_CASE("NaN and infinities pass through mma, and there is one NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(value_of<Half>({1, {kInfinity}, {2}}) == kInfinity);
  CHECK(value_of<BFloat16>({-kInfinity, {1}, {2}}) == -kInfinity);
  CHECK(value_of<BFloat16>({0, {0x1p127f, 0x1p127f}, {1, 1}}) == kInfinity);  // too large for float
  for (const Dot& dot : {Dot{kNan, {1}, {1}}, Dot{0, {kNan}, {1}}, Dot{0, {1}, {kNan}},
                         Dot{0, {kInfinity}, {0}}, Dot{kInfinity, {-kInfinity}, {1}}}) {
    CHECK(std::bit_cast<std::uint32_t>(value_of<Half>(dot)) == 0x7fffffffu);
    CHECK(std::bit_cast<std::uint32_t>(value_of<BFloat16>(dot)) == 0x7fffffffu);
  }
}

TEST_CASE("mma and ldmatrix are counted once a warp") {
  float out[64];
  simt::cpu::reset_counts();
  REQUIRE(report_of({3, 64, 64 * 16, nullptr}, loads_and_multiplies, out).empty());
  const simt::cpu::Counts counts = simt::cpu::counts();
  CHECK(counts.mma == 3 * 2 * 3);
  CHECK(counts.ldmatrix == 3 * 2 * 2);
  CHECK(counts.ldmatrix_conflicts == 0);
  CHECK(counts.async_copies == 0);
}

TEST_CASE("bank conflicts of ldmatrix are counted as the wavefronts that they add") {
  CHECK(counts_of_loads(128).ldmatrix_conflicts == 4 * 7);
  CHECK(counts_of_loads(128, true).ldmatrix_conflicts == 0);
  CHECK(counts_of_loads(128 + 16).ldmatrix_conflicts == 0);  // padded
  CHECK(counts_of_loads(16).ldmatrix_conflicts == 0);
  CHECK(counts_of_loads(32).ldmatrix_conflicts == 4 * 1);  // every second group, each twice
  CHECK(counts_of_loads(64).ldmatrix_conflicts == 4 * 3);
  CHECK(counts_of_loads(0).ldmatrix_conflicts == 0);  // one row for all: it is read once
}

TEST_CASE("ldmatrix does not wait for what other lanes are about to write") {
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    unsigned out[32 * 4];
    REQUIRE(report_of({1, 32, 32 * 16, nullptr}, loads_unordered, out).empty());
    CHECK(std::count(out, out + 32 * 4, 0xffffffffu) > 0);  // the poison
  }
}

TEST_CASE("an mma or ldmatrix without one of the 32 lanes is a fault") {
  float out[32];
  CHECK_THAT(report_of({1, 32, 0, nullptr}, multiplies_without_a_lane, out),
             ContainsSubstring("partial warp: thread (0,0,0) of block (0,0,0) at "
                               "simt::mma_m16n8k16<Half>() with mask 0xffffffff, " +
                               line(kMmaWithout) + ": lane 7 takes no part"));
  CHECK_THAT(
      report_of({1, 24, 0, nullptr}, multiplies_without_a_lane, out),
      ContainsSubstring("lane 7 takes no part (exited, or the block has no such thread), and "
                        "all 32 must; on a GPU the result is undefined"));
  unsigned loaded[32];
  CHECK_THAT(report_of({1, 32, 16, nullptr}, loads_without_a_lane, loaded),
             ContainsSubstring("partial warp: thread (0,0,0) of block (0,0,0) at "
                               "simt::ldmatrix_x4() with mask 0xffffffff, " +
                               line(kLoadWithout) + ": lane 31 takes no part"));
}

TEST_CASE("two types of mma in a warp are a mismatch that names both") {
  float out[32];
  const std::string report = report_of({1, 32, 0, nullptr}, multiplies_two_types, out);
  CHECK_THAT(report, ContainsSubstring("mismatched warp operation"));
  CHECK_THAT(report, ContainsSubstring("simt::mma_m16n8k16<Half>()"));
  CHECK_THAT(report, ContainsSubstring("simt::mma_m16n8k16<BFloat16>()"));
}

TEST_CASE("a misaligned row of ldmatrix is named with its thread and line") {
  unsigned out[32];
  CHECK_THAT(
      report_of({1, 32, 64, nullptr}, lane_5_loads, 24, out),
      ContainsSubstring("misaligned access: thread (5,0,0) of block (0,0,0) at " + line(kLoad) +
                        ": simt::ldmatrix_x4_trans() takes 16 bytes at byte 24 of shared memory, "
                        "which is no multiple of 16; a GPU stops with \"misaligned address\""));
}

TEST_CASE("a row of ldmatrix outside shared memory is named with its thread and line") {
  unsigned out[32];
  for (const std::ptrdiff_t offset : {-16, 56, 64}) {
    CHECK_THAT(report_of({1, 32, 64, nullptr}, lane_5_loads, offset, out),
               ContainsSubstring(
                   "outside shared memory: thread (5,0,0) of block (0,0,0) at " + line(kLoad) +
                   ": simt::ldmatrix_x4_trans() takes 16 bytes at byte " + std::to_string(offset) +
                   ", and the block has 64 bytes of dynamic shared memory"));
  }
  alignas(16) static constexpr unsigned char kGlobal[16] = {};
  CHECK_THAT(report_of({1, 32, 64, nullptr}, loads_from_elsewhere, kGlobal, out),
             ContainsSubstring(line(kLoadElsewhere) + ": simt::ldmatrix_x4() takes 16 bytes at an "
                                                      "address of other memory"));
}
