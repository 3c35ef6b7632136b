// SPDX-License-Identifier: MIT
/// @file
/// cp.async on the CPU device: late under one schedule, at once under the other; every report about it.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"

namespace {

using simt::cpu::Schedule;

/// A line of this file as reports give it.
std::string line(int number) { return "cpu/async_copy_test.cpp:" + std::to_string(number); }

/// Copies three groups of one copy each, then waits with all but the newest `Pending` of them; each
/// group's first number is read before and after the wait.
template <int Pending>
__global__ void copies_three_groups(const float4* in, float* before, float* after) {
  auto* shared = simt::dynamic_shared<float4>();
  for (int i = 0; i < 3; ++i) {
    simt::cp_async16(shared + i, in + i);
    simt::cp_async_commit();
  }
  for (int i = 0; i < 3; ++i) before[i] = shared[i].x;
  simt::cp_async_wait<Pending>();
  for (int i = 0; i < 3; ++i) after[i] = shared[i].x;
  simt::cp_async_wait<0>();
}

constexpr int kUncommitted = __LINE__ + 4;
__global__ void waits_without_a_commit(const float4* in, float* out) {
  auto* shared = simt::dynamic_shared<float4>();
  if (threadIdx.x == 1) {
    simt::cp_async16(shared, in);
    simt::cp_async_wait<0>();
    *out = shared->x;
  }
}

constexpr int kUnwaited = __LINE__ + 6;
__global__ void exits_without_a_wait(const float4* in) {
  auto* shared = simt::dynamic_shared<float4>();
  simt::cp_async16(shared, in);
  simt::cp_async_commit();
  simt::cp_async_wait<0>();
  if (threadIdx.x == 3) simt::cp_async16(shared + 1, in);
  simt::cp_async_commit();
}

/// One copy a thread, from `in` to byte `offset` of shared memory.
constexpr int kCopy = __LINE__ + 3;
__global__ void copies(std::ptrdiff_t offset, const void* in, bool valid, float4* out) {
  auto* shared = simt::dynamic_shared<unsigned char>();
  simt::cp_async16(shared + offset, in, valid);
  simt::cp_async_commit();
  simt::cp_async_wait<0>();
  out[threadIdx.x] = *reinterpret_cast<const float4*>(shared + offset);
}

constexpr int kCopyElsewhere = __LINE__ + 1;
__global__ void copies_to_other_memory(float4* to, const float4* in) { simt::cp_async16(to, in); }

/// Another thread still reads what the copy overwrites: a barrier is missing.
__global__ void copies_too_early(const float4* in, float* out) {
  auto* shared = simt::dynamic_shared<float4>();
  if (threadIdx.x == 0) *shared = {1, 1, 1, 1};
  __syncthreads();
  if (threadIdx.x == 32) {
    simt::cp_async16(shared, in);
    simt::cp_async_commit();
  } else if (threadIdx.x == 0) {
    *out = shared->x;
  }
  simt::cp_async_wait<0>();
}

__global__ void throws_in_block_1_with_a_copy_under_way(const float4* in) {
  auto* shared = simt::dynamic_shared<float4>();
  if (blockIdx.x == 1) {
    simt::cp_async16(shared, in);
    throw std::runtime_error("under way");
  }
}

constexpr float4 kIn[3] = {{10, 1, 2, 3}, {20, 1, 2, 3}, {30, 1, 2, 3}};

struct Seen {
  float before[3];
  float after[3];
};

template <int Pending>
Seen three_groups(Schedule schedule) {
  const KeptSettings kept(schedule);
  Seen seen = {};
  REQUIRE(report_of({1, 1, 48, nullptr}, copies_three_groups<Pending>, kIn, seen.before, seen.after)
              .empty());
  return seen;
}

/// The first `there` groups are there, the others are still the poison.
void check_there(const float (&values)[3], int there) {
  for (int i = 0; i < 3; ++i) {
    INFO("group " << i << " of " << there << " that are there");
    if (i < there) {
      CHECK(values[i] == kIn[i].x);
    } else {
      CHECK(std::isnan(values[i]));
    }
  }
}

}  // namespace

TEST_CASE(
    "under the forward schedule a copy is done by the wait that asks for it, and not before") {
  check_there(three_groups<0>(Schedule::forward).before, 0);
  check_there(three_groups<0>(Schedule::forward).after, 3);
  check_there(three_groups<1>(Schedule::forward).after, 2);
  check_there(three_groups<2>(Schedule::forward).after, 1);
  check_there(three_groups<3>(Schedule::forward).after, 0);
  check_there(three_groups<8>(Schedule::forward).after, 0);
}

TEST_CASE("under the reverse schedule a copy is done at once") {
  check_there(three_groups<2>(Schedule::reverse).before, 3);
  check_there(three_groups<2>(Schedule::reverse).after, 3);
}

TEST_CASE("a copy that overwrites what others still read shows under the reverse schedule") {
  float out[2] = {};
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    REQUIRE(report_of({1, 64, 16, nullptr}, copies_too_early, kIn, &out[int(schedule)]).empty());
  }
  CHECK(out[int(Schedule::forward)] == 1);
  CHECK(out[int(Schedule::reverse)] == 10);
}

TEST_CASE("a wait does not wait for what was not committed") {
  float out = 0;
  CHECK_THAT(report_of({1, 2, 16, nullptr}, waits_without_a_commit, kIn, &out),
             ContainsSubstring("unwaited copy: thread (1,0,0) of block (0,0,0) at " +
                               line(kUncommitted) + ": it exits and has not waited for the copy"));
  CHECK(std::isnan(out));
}

TEST_CASE("a thread that exits with a copy under way is named, and the line of the copy") {
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    CHECK_THAT(
        report_of({1, 32, 32, nullptr}, exits_without_a_wait, kIn),
        ContainsSubstring("unwaited copy: thread (3,0,0) of block (0,0,0) at " + line(kUnwaited) +
                          ": it exits and has not waited for the copy that "
                          "simt::cp_async16() began here"));
  }
}

TEST_CASE("an invalid copy gives zeros and leaves its source alone") {
  const float4 nothing = {0, 0, 0, 0};
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    for (const std::uintptr_t source : {0, 16}) {  // neither can be read
      float4 out = {1, 1, 1, 1};
      REQUIRE(report_of({1, 1, 16, nullptr}, copies, 0, reinterpret_cast<const void*>(source),
                        false, &out)
                  .empty());
      CHECK(std::memcmp(&out, &nothing, sizeof(out)) == 0);
    }
  }
}

TEST_CASE("a misaligned copy is named with its line, on either side") {
  float4 out[1];
  CHECK_THAT(
      report_of({1, 1, 64, nullptr}, copies, 8, kIn, true, out),
      ContainsSubstring("misaligned access: thread (0,0,0) of block (0,0,0) at " + line(kCopy) +
                        ": simt::cp_async16() takes 16 bytes at byte 8 of shared memory"));
  const auto* misaligned = reinterpret_cast<const unsigned char*>(kIn) + 4;
  CHECK_THAT(
      report_of({1, 1, 64, nullptr}, copies, 0, misaligned, true, out),
      ContainsSubstring("misaligned access: thread (0,0,0) of block (0,0,0) at " + line(kCopy)) &&
          ContainsSubstring("is no multiple of 16 bytes"));
}

TEST_CASE("a copy to other memory than the block's shared memory is named with its line") {
  float4 out[1];
  for (const std::ptrdiff_t offset : {-16, 64}) {
    CHECK_THAT(report_of({1, 1, 64, nullptr}, copies, offset, kIn, true, out),
               ContainsSubstring("outside shared memory: thread (0,0,0) of block (0,0,0) at " +
                                 line(kCopy) + ": simt::cp_async16() takes 16 bytes at byte " +
                                 std::to_string(offset) +
                                 ", and the block has 64 bytes of dynamic shared memory"));
  }
  CHECK_THAT(report_of({1, 1, 64, nullptr}, copies_to_other_memory, out, kIn),
             ContainsSubstring("outside shared memory: thread (0,0,0) of block (0,0,0) at " +
                               line(kCopyElsewhere)));
}

TEST_CASE("copies are counted one a thread, with the invalid ones") {
  float4 out[32];
  simt::cpu::reset_counts();
  REQUIRE(report_of({2, 32, 16, nullptr}, copies, 0, kIn, true, out).empty());
  REQUIRE(report_of({1, 32, 16, nullptr}, copies, 0, nullptr, false, out).empty());
  CHECK(simt::cpu::counts().async_copies == 96);
}

TEST_CASE("after a fault with a copy under way the next launch starts afresh") {
  const KeptSettings kept;
  simt::cpu::settings().workers = 1;
  CHECK_THAT(report_of({2, 1, 16, nullptr}, throws_in_block_1_with_a_copy_under_way, kIn),
             ContainsSubstring("throws: under way"));
  float4 out[1];
  CHECK(report_of({2, 1, 16, nullptr}, copies, 0, kIn, true, out).empty());
}
