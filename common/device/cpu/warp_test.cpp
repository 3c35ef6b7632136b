// SPDX-License-Identifier: MIT
/// @file
/// Shuffles, votes and reductions give what the CUDA C++ Programming Guide says.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/device/cpu/test_launch.hpp"
#include "common/device/reduce.hpp"
#include "common/harness/catch.hpp"

namespace {

struct Shuffled {
  int from_lane, up, down, exchange;
};

__global__ void shuffles(Shuffled* out, int operand, int width) {
  const int x = 100 + int(threadIdx.x);
  out[threadIdx.x] = {__shfl_sync(0xffffffffu, x, operand, width),
                      __shfl_up_sync(0xffffffffu, x, unsigned(operand), width),
                      __shfl_down_sync(0xffffffffu, x, unsigned(operand), width),
                      __shfl_xor_sync(0xffffffffu, x, operand, width)};
}

__global__ void shuffles_of_a_double(double* out) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0 / (threadIdx.x + 3.0), 1);
}

__global__ void half_warps(int* out) {
  const bool lower = threadIdx.x < 16;
  const unsigned mask = lower ? 0x0000ffffu : 0xffff0000u;
  int x = 1;
  for (int offset = lower ? 8 : 4; offset > 0; offset /= 2) x += __shfl_xor_sync(mask, x, offset);
  out[threadIdx.x] = x;
}

__global__ void votes(unsigned* out) {
  const int third = threadIdx.x % 3 == 0;
  out[0] = __ballot_sync(0xffffffffu, third);
  out[1] = unsigned(__any_sync(0xffffffffu, third));
  out[2] = unsigned(__any_sync(0xffffffffu, 0));
  out[3] = unsigned(__all_sync(0xffffffffu, third));
  out[4] = unsigned(__all_sync(0xffffffffu, 2));
  if (threadIdx.x < 4) out[5] = unsigned(__all_sync(0xfu, threadIdx.x < 4));
}

__global__ void incomplete_warp(int* out) {  // 40 threads: the second warp has 8 lanes
  int x = int(threadIdx.x);
  for (int offset = 4; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  out[threadIdx.x] = x;
}

struct Reduced {
  float max, sum, max_by_shuffles, sum_by_shuffles;
};

template <int Lanes>
__global__ void reductions(const float* in, Reduced* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = {simt::reduce_max<Lanes>(x), simt::reduce_sum<Lanes>(x),
                      simt::by_shuffles::reduce_max<Lanes>(x),
                      simt::by_shuffles::reduce_sum<Lanes>(x)};
}

/// Numbers whose sum depends on the order of the additions, with the special ones among them.
std::vector<float> awkward_numbers(bool special) {
  std::vector<float> numbers(64);
  std::uint32_t state = 1;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = std::ldexp(float(state >> 8) - 0x1p23f, int(state % 40) - 30);
  }
  if (special) {
    numbers[3] = std::numeric_limits<float>::quiet_NaN();
    numbers[12] = -std::numeric_limits<float>::infinity();
    numbers[33] = -0.0f;
    numbers[34] = 0.0f;
  }
  return numbers;
}

template <int Lanes>
void check_reductions() {
  for (const bool special : {false, true}) {
    const std::vector<float> in = awkward_numbers(special);
    std::vector<Reduced> out(in.size());
    REQUIRE(
        report_of({1, unsigned(in.size()), 0, nullptr}, reductions<Lanes>, in.data(), out.data())
            .empty());
    for (std::size_t i = 0; i < in.size(); ++i) {
      INFO("thread " << i << " of rows of " << Lanes);
      CHECK(std::bit_cast<std::uint32_t>(out[i].max) ==
            std::bit_cast<std::uint32_t>(out[i].max_by_shuffles));
      CHECK(std::bit_cast<std::uint32_t>(out[i].sum) ==
            std::bit_cast<std::uint32_t>(out[i].sum_by_shuffles));
      if (special) continue;
      const std::size_t first = i / Lanes * Lanes;
      CHECK(out[i].max == *std::max_element(&in[first], &in[first] + Lanes));
      CHECK(out[i].sum == out[first].sum);
    }
  }
}

}  // namespace

TEST_CASE("shuffles read the lane that CUDA says, for every width and operand") {
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    for (const int operand : {0, 1, 2, 3, 5, 8, 13, 21, 31}) {
      Shuffled out[32];
      REQUIRE(report_of({1, 32, 0, nullptr}, shuffles, out, operand, width).empty());
      for (int lane = 0; lane < 32; ++lane) {
        INFO("lane " << lane << ", width " << width << ", operand " << operand);
        const int in_row = lane % width;
        const int row = lane - in_row;
        CHECK(out[lane].from_lane == 100 + row + operand % width);
        CHECK(out[lane].up == 100 + (in_row >= operand ? lane - operand : lane));
        CHECK(out[lane].down == 100 + (in_row + operand < width ? lane + operand : lane));
        CHECK(out[lane].exchange == 100 + ((lane ^ operand) < row + width ? lane ^ operand : lane));
      }
    }
  }
}

TEST_CASE("a shuffle moves eight bytes whole") {
  double out[32];
  REQUIRE(report_of({1, 32, 0, nullptr}, shuffles_of_a_double, out).empty());
  for (int lane = 0; lane < 32; ++lane) CHECK(out[lane] == 1.0 / ((lane ^ 1) + 3.0));
}

TEST_CASE("two halves of a warp go their own ways") {
  int out[32];
  REQUIRE(report_of({1, 32, 0, nullptr}, half_warps, out).empty());
  for (int lane = 0; lane < 32; ++lane) CHECK(out[lane] == (lane < 16 ? 16 : 8));
}

TEST_CASE("votes see the lanes of their mask") {
  unsigned out[6] = {};
  REQUIRE(report_of({1, 32, 0, nullptr}, votes, out).empty());
  CHECK(out[0] == 0x49249249u);
  CHECK(out[1] == 1);
  CHECK(out[2] == 0);
  CHECK(out[3] == 0);
  CHECK(out[4] == 1);
  CHECK(out[5] == 1);
}

TEST_CASE("the last warp of a block may have fewer than 32 lanes") {
  int out[40];
  REQUIRE(report_of({1, 40, 0, nullptr}, incomplete_warp, out).empty());
  for (int i = 0; i < 40; ++i) CHECK(out[i] == 8 * (i / 8 * 8) + 28);
}

TEST_CASE("reductions have the bits of the butterfly of shuffles") {
  check_reductions<1>();
  check_reductions<2>();
  check_reductions<4>();
  check_reductions<8>();
  check_reductions<16>();
  check_reductions<32>();
}
