// SPDX-License-Identifier: MIT
/// @file
/// Every report about barriers, warp operations and exceptions, each from a kernel that commits the
/// fault. (Those about memory: memory_report_test.cpp.)
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"

namespace {

using simt::cpu::Schedule;

/// A line of this file as reports give it.
std::string line(int number) { return "cpu/report_test.cpp:" + std::to_string(number); }

constexpr int kEarlyExitBarrier = __LINE__ + 3;
__global__ void exits_early(int threads) {
  if (int(threadIdx.x) >= threads) return;
  __syncthreads();
}

constexpr int kFirstOfTwoBarriers = __LINE__ + 3;
__global__ void two_barriers() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

constexpr int kBarrierAgainstWarp = __LINE__ + 2;
__global__ void barrier_against_warp() {
  if (threadIdx.x == 3) __syncthreads();
  __syncwarp();
  __syncthreads();
}

__global__ void two_shuffles(float* out) {
  float x = 1;
  if (threadIdx.x % 2) {
    x = __shfl_xor_sync(0xffffffffu, x, 1);
  } else {
    x = __shfl_down_sync(0xffffffffu, x, 1);
  }
  out[threadIdx.x] = x;
}

__global__ void two_masks() { __syncwarp(threadIdx.x == 0 ? 0x3u : 0xffffffffu); }

__global__ void chain_of_masks() {  // lane 1 comes while lane 0 still waits for lane 2
  if (threadIdx.x != 1) __syncwarp(0x5);
  if (threadIdx.x != 2) __syncwarp(0x3);
}

__global__ void same_operation_on_two_lines() {
  if (threadIdx.x % 2) {
    __syncwarp();
  } else {
    __syncwarp();
  }
}

constexpr int kLeavesItselfOut = __LINE__ + 1;
__global__ void leaves_itself_out() { __syncwarp(0x1u); }

constexpr int kReadsOutsideMask = __LINE__ + 2;
__global__ void reads_a_lane_outside_its_mask(float* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, 1.0f, 20);
}

__global__ void reads_an_exited_lane(float* out) {
  if (threadIdx.x == 7) return;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 7);
}

constexpr int kReducesWithout = __LINE__ + 3;
__global__ void reduces_without_a_lane(float* out) {
  if (threadIdx.x == 7) return;
  out[threadIdx.x] = simt::reduce_sum<8>(1.0f);
}

constexpr int kWrongWidth = __LINE__ + 2;
__global__ void wrong_width(float* out) {
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1, 12);
}

__global__ void throws_an_exception() {
  if (threadIdx.x == 5) throw std::runtime_error("assertion failed");
  __syncthreads();
}

__global__ void throws_a_number() { throw 42; }

/// Block 1 fails at once, block 0 surely after it.
__global__ void both_blocks_fail(std::atomic<bool>* block_1_fails) {
  if (blockIdx.x == 1) {
    *block_1_fails = true;
  } else {
    while (!*block_1_fails) __nanosleep(100);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw std::runtime_error("both fail");
}

__global__ void owns_memory(const std::shared_ptr<int>* shared) {
  const std::shared_ptr<int> copy = *shared;
  if (threadIdx.x == 40) throw std::runtime_error("with stacks that hold objects");
  __syncthreads();
}

__global__ void works(int* sum) {
  int x = 1;
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  __syncthreads();
  if (threadIdx.x == 0) *sum = x;
}

}  // namespace

TEST_CASE("a thread that exits before a barrier is named, and where the others wait") {
  const std::string report = report_of({1, 64, 0, nullptr}, exits_early, 40);
  CHECK_THAT(report,
             ContainsSubstring("divergent barrier: thread (0,0,0) of block (0,0,0) waits at "
                               "__syncthreads() " +
                               line(kEarlyExitBarrier)));
  CHECK_THAT(report, ContainsSubstring("but thread (40,0,0) has exited"));
  CHECK_THAT(report, ContainsSubstring("on a GPU the block would hang or go on with stale data"));
  CHECK_THAT(report, ContainsSubstring("kernel launched at cpu/report_test.cpp:"));
}

TEST_CASE("a thread that exits first of all is named as well") {
  const KeptSettings kept(Schedule::reverse);
  const std::string report = report_of({1, 64, 0, nullptr}, exits_early, 40);
  CHECK_THAT(report, ContainsSubstring("thread (39,0,0) of block (0,0,0) waits at"));
  CHECK_THAT(report, ContainsSubstring("but thread (63,0,0) has exited"));
}

TEST_CASE("threads at two different barriers are named with both lines") {
  const std::string report = report_of({1, 64, 0, nullptr}, two_barriers);
  CHECK_THAT(report,
             ContainsSubstring("divergent barrier: thread (0,0,0) of block (0,0,0) waits at "
                               "__syncthreads() " +
                               line(kFirstOfTwoBarriers)));
  CHECK_THAT(report, ContainsSubstring("but thread (32,0,0) at __syncthreads() " +
                                       line(kFirstOfTwoBarriers + 2)));
}

TEST_CASE("a deadlock lists the groups that wait for each other") {
  const std::string report = report_of({1, 32, 0, nullptr}, barrier_against_warp);
  CHECK_THAT(report, ContainsSubstring("deadlock in block (0,0,0): no thread can go on"));
  CHECK_THAT(report, ContainsSubstring("1 thread waits at __syncthreads() " +
                                       line(kBarrierAgainstWarp) + ": (3,0,0);"));
  CHECK_THAT(report, ContainsSubstring("31 threads wait at __syncwarp() with mask 0xffffffff, " +
                                       line(kBarrierAgainstWarp + 1) +
                                       ": (0,0,0) (1,0,0) (2,0,0) (4,0,0) ..."));
}

TEST_CASE("lanes at different warp operations are named") {
  float out[32];
  const std::string report = report_of({1, 32, 0, nullptr}, two_shuffles, out);
  CHECK_THAT(report, ContainsSubstring("mismatched warp operation: thread (0,0,0) of block (0,0,0) "
                                       "is at __shfl_down_sync() with mask 0xffffffff"));
  CHECK_THAT(report, ContainsSubstring("but thread (1,0,0) of the same warp at __shfl_xor_sync()"));
}

TEST_CASE("lanes with different masks are named") {
  const std::string report = report_of({1, 32, 0, nullptr}, two_masks);
  CHECK_THAT(report, ContainsSubstring("mismatched warp operation"));
  CHECK_THAT(report, ContainsSubstring("mask 0x3,"));
  CHECK_THAT(report, ContainsSubstring("mask 0xffffffff,"));
}

TEST_CASE("a lane may wait with one mask while another lane waits for it with a second") {
  CHECK(report_of({1, 3, 0, nullptr}, chain_of_masks).empty());
}

TEST_CASE("the same warp operation on two lines is legal") {
  CHECK(report_of({1, 32, 0, nullptr}, same_operation_on_two_lines).empty());
}

TEST_CASE("a lane that is not in its own mask is named") {
  CHECK_THAT(
      report_of({1, 32, 0, nullptr}, leaves_itself_out),
      ContainsSubstring("wrong mask: thread (1,0,0) of block (0,0,0) calls __syncwarp() with "
                        "mask 0x1, " +
                        line(kLeavesItselfOut) + ", and its own lane 1 is not in"));
}

TEST_CASE("a shuffle from an absent lane names the lane that reads") {
  float out[32];
  CHECK_THAT(
      report_of({1, 32, 0, nullptr}, reads_a_lane_outside_its_mask, out),
      ContainsSubstring(
          "absent lane: thread (0,0,0) of block (0,0,0) at __shfl_sync() with mask 0xffff, " +
          line(kReadsOutsideMask) + ": it reads lane 20, which takes no part"));
  CHECK_THAT(report_of({1, 32, 0, nullptr}, reads_an_exited_lane, out),
             ContainsSubstring("reads lane 7, which takes no part"));
  CHECK_THAT(report_of({1, 32, 0, nullptr}, reduces_without_a_lane, out),
             ContainsSubstring("at simt::reduce_sum() with mask 0xffffffff, " +
                               line(kReducesWithout) + ": it reads lane 7"));
}

TEST_CASE("a shuffle width that CUDA does not have is refused") {
  float out[32];
  CHECK_THAT(report_of({1, 32, 0, nullptr}, wrong_width, out),
             ContainsSubstring("wrong width: thread (0,0,0) of block (0,0,0) at " +
                               line(kWrongWidth) + ": a shuffle over 12 lanes"));
}

TEST_CASE("an exception in a kernel is reported with its thread") {
  CHECK_THAT(
      report_of({1, 32, 0, nullptr}, throws_an_exception),
      ContainsSubstring("exception: thread (5,0,0) of block (0,0,0) throws: assertion failed"));
  CHECK_THAT(report_of({1, 32, 0, nullptr}, throws_a_number),
             ContainsSubstring("throws: something that is no std::exception"));
}

TEST_CASE("of two blocks that fail the first is reported, not the faster one") {
  const KeptSettings kept;
  simt::cpu::settings().workers = 2;
  std::atomic<bool> block_1_fails = false;
  CHECK_THAT(report_of({2, 1, 0, nullptr}, both_blocks_fail, &block_1_fails),
             ContainsSubstring("thread (0,0,0) of block (0,0,0) throws: both fail"));
}

TEST_CASE("after a fault every thread has unwound its stack and the device works") {
  const auto shared = std::make_shared<int>(7);
  for (int repeat = 0; repeat < 3; ++repeat) {
    CHECK_THAT(report_of({4, 64, 0, nullptr}, owns_memory, &shared),
               ContainsSubstring("with stacks that hold objects"));
    CHECK(shared.use_count() == 1);
    int sum = 0;
    CHECK(report_of({1, 64, 0, nullptr}, works, &sum).empty());
    CHECK(sum == 32);
  }
}
