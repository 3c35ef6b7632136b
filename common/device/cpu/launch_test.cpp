// SPDX-License-Identifier: MIT
/// @file
/// Launches: what is refused, which threads run and in which order, what is counted and traced.
#include <cstdlib>
#include <set>
#include <tuple>
#include <vector>

#include "common/attention/problem.hpp"
#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"

namespace {

using simt::cpu::Schedule;

__global__ void does_nothing() {}

struct Where {
  uint3 thread, block;
  dim3 block_dim, grid_dim;
};

__global__ void notes_where(Where* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = {threadIdx, blockIdx, blockDim, gridDim};
}

/// Each thread takes the next number, before and after a barrier.
__global__ void notes_order(int* next, int* before, int* after) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  before[thread] = (*next)++;
  __syncthreads();
  after[thread] = (*next)++;
}

__global__ void notes_order_in_a_warp(int* next, int* after) {
  __syncwarp();
  after[threadIdx.x] = (*next)++;
}

/// A value that another warp writes, read with no barrier between.
__global__ void races(int* out) {
  int* shared = simt::dynamic_shared<int>();
  if (threadIdx.x == 0) shared[0] = 5;
  if (threadIdx.x == 32) *out = shared[0];
}

__global__ void changes_its_argument(int value, int* out) {
  value += int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = value;
}

__global__ void waits_for_a_flag(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __nanosleep(10);
    *out = 1;
  }
  if (threadIdx.x == 37) *flag = 1;
}

__global__ void does_one_of_each(float* out) {
  float x = __shfl_sync(0xffffffffu, 1.0f, 0);
  x += simt::reduce_max<8>(x) + simt::reduce_sum<4>(x);
  __syncwarp();
  x += float(__any_sync(0xffffffffu, 1));
  __syncthreads();
  out[threadIdx.x] = x;
}

__global__ void traces() {
  const float acc_o[2] = {float(threadIdx.x), 0.5f};
  simt::trace(int(blockIdx.x), 3, 1.0f, 0.25f, 2.0f, acc_o);
}

__global__ void launches_a_kernel() { simt::launch({1, 1, 0, nullptr}, does_nothing); }

std::string refusal_of(const simt::LaunchConfig& config) {
  try {
    simt::launch(config, does_nothing);
    return "";
  } catch (const simt::DeviceError& error) {
    return error.what();
  }
}

struct Order {
  std::vector<int> before = std::vector<int>(192);
  std::vector<int> after = std::vector<int>(192);
};

Order order_of(Schedule schedule) {
  const KeptSettings kept(schedule);
  simt::cpu::settings().workers = 1;
  Order order;
  int next = 0;
  REQUIRE(
      report_of({3, 64, 0, nullptr}, notes_order, &next, order.before.data(), order.after.data())
          .empty());
  return order;
}

void set_environment(const char* name, const char* value) {
  if (value) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

}  // namespace

TEST_CASE("a launch that CUDA would refuse is refused, naming the launch and the limit") {
  CHECK_THAT(refusal_of({1, dim3(32, 33), 0, nullptr}),
             ContainsSubstring("launch at cpu/launch_test.cpp:") &&
                 ContainsSubstring("a block of (32,33,1) threads") && ContainsSubstring("1024"));
  CHECK_THAT(refusal_of({1, dim3(1, 1, 65), 0, nullptr}), ContainsSubstring("(1,1,65) threads"));
  CHECK_THAT(refusal_of({1, 0, 0, nullptr}), ContainsSubstring("(0,1,1) threads"));
  CHECK_THAT(refusal_of({0, 32, 0, nullptr}), ContainsSubstring("a grid of (0,1,1) blocks"));
  CHECK_THAT(refusal_of({dim3(1, 65'536), 32, 0, nullptr}),
             ContainsSubstring("(1,65536,1) blocks"));
  CHECK_THAT(refusal_of({1, 32, 227 * 1024 + 1, nullptr}),
             ContainsSubstring("232449 bytes of dynamic shared memory") &&
                 ContainsSubstring("at most 232448"));
  CHECK_THAT(refusal_of({1, 32, 0, reinterpret_cast<simt::Stream>(8)}),
             ContainsSubstring("stream"));
  CHECK(refusal_of({1, dim3(32, 32), 227 * 1024, nullptr}).empty());
  CHECK(refusal_of({1, dim3(16, 1, 64), 0, nullptr}).empty());
}

TEST_CASE("a kernel cannot launch a kernel") {
  CHECK_THAT(report_of({1, 1, 0, nullptr}, launches_a_kernel),
             ContainsSubstring("from inside a kernel"));
}

TEST_CASE("every thread of a grid and a block of three dimensions runs once, and knows where") {
  const dim3 grid(3, 2, 4);
  const dim3 block(5, 3, 2);
  std::vector<Where> out(24 * 30);
  REQUIRE(report_of({grid, block, 0, nullptr}, notes_where, out.data()).empty());
  std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> seen;
  for (const Where& where : out) {
    CHECK((where.block_dim.x == 5 && where.block_dim.y == 3 && where.block_dim.z == 2));
    CHECK((where.grid_dim.x == 3 && where.grid_dim.y == 2 && where.grid_dim.z == 4));
    seen.insert({where.thread.x, where.thread.y, where.thread.z, where.block.x, where.block.y,
                 where.block.z});
  }
  CHECK(seen.size() == 24 * 30);
}

TEST_CASE("the reverse schedule runs blocks, warps and lanes the other way round") {
  const Order forward = order_of(Schedule::forward);
  const Order reverse = order_of(Schedule::reverse);
  for (int i = 0; i < 192; ++i) {
    CHECK(forward.before[i] == i / 64 * 128 + i % 64);
    CHECK(forward.after[i] == i / 64 * 128 + 64 + i % 64);
    CHECK(reverse.before[i] == forward.before[191 - i]);
    CHECK(reverse.after[i] == forward.after[191 - i]);
  }
}

TEST_CASE("lanes run in opposite orders after a warp operation, too") {
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    int next = 0;
    int order[32];
    REQUIRE(report_of({1, 32, 0, nullptr}, notes_order_in_a_warp, &next, order).empty());
    for (int lane = 0; lane < 32; ++lane) {
      CHECK(order[lane] == (schedule == Schedule::forward ? lane : 31 - lane));
    }
  }
}

TEST_CASE("a missing barrier shows as a difference between the schedules") {
  int out[2];
  for (const Schedule schedule : {Schedule::forward, Schedule::reverse}) {
    const KeptSettings kept(schedule);
    REQUIRE(report_of({1, 64, sizeof(int), nullptr}, races, &out[int(schedule)]).empty());
  }
  CHECK(out[0] == 5);
  CHECK(out[1] == -1);  // the poison
}

TEST_CASE("every thread has its own copy of an argument") {
  int out[64];
  REQUIRE(report_of({1, 64, 0, nullptr}, changes_its_argument, 1000, out).empty());
  for (int i = 0; i < 64; ++i) CHECK(out[i] == 1000 + i);
}

TEST_CASE("a thread that sleeps lets the one run that it waits for") {
  int flag = 0;
  int out = 0;
  REQUIRE(report_of({1, 64, 0, nullptr}, waits_for_a_flag, &flag, &out).empty());
  CHECK(out == 1);
}

TEST_CASE("what kernels do is counted as a profiler counts it") {
  float out[64];
  simt::cpu::reset_counts();
  simt::launch({10, 64, 0, nullptr}, does_one_of_each, out);
  simt::launch({1, 64, 0, nullptr}, does_one_of_each, out);
  const simt::cpu::Counts counts = simt::cpu::counts();
  CHECK(counts.launches == 2);
  CHECK(counts.blocks == 11);
  CHECK(counts.block_barriers == 11);
  CHECK(counts.warp_barriers == 22);
  CHECK(counts.shuffles == 22 * (1 + 3 + 2));
  CHECK(counts.votes == 22);
}

TEST_CASE(
    "a trace record carries the state and where it is from, and without a sink nothing happens") {
  struct Kept {
    unsigned block, thread;
    int q_row, n_block;
    float m, alpha, l, first, second;
  };
  std::vector<Kept> kept;
  simt::launch({2, 3, 0, nullptr}, traces);
  simt::cpu::set_trace_sink([&](const simt::cpu::TraceRecord& record) {
    REQUIRE(record.acc_o.size() == 2);
    kept.push_back({record.block_idx.x, record.thread_idx.x, record.q_row, record.n_block,
                    record.row_max, record.rescale, record.row_sum, record.acc_o[0],
                    record.acc_o[1]});
  });
  simt::launch({2, 3, 0, nullptr}, traces);
  simt::cpu::set_trace_sink({});
  simt::launch({2, 3, 0, nullptr}, traces);

  REQUIRE(kept.size() == 6);
  for (const Kept& record : kept) {
    CHECK(record.q_row == int(record.block));
    CHECK(record.n_block == 3);
    CHECK((record.m == 1.0f && record.alpha == 0.25f && record.l == 2.0f));
    CHECK((record.first == float(record.thread) && record.second == 0.5f));
  }
}

TEST_CASE("settings come from the environment, and a bad value is refused with the allowed ones") {
  set_environment("SIMT_SCHEDULE", "reverse");
  set_environment("SIMT_WORKERS", "3");
  CHECK(simt::cpu::settings_from_environment().schedule == Schedule::reverse);
  CHECK(simt::cpu::settings_from_environment().workers == 3);

  for (const char* bad : {"sideways", "", "Forward"}) {
    set_environment("SIMT_SCHEDULE", bad);
    CHECK_THROWS_AS(simt::cpu::settings_from_environment(), workshop::Refusal);
  }
  set_environment("SIMT_SCHEDULE", nullptr);
  for (const char* bad : {"0", "-1", "1025", "2x", "", " 2", "+2", "99999999999"}) {
    set_environment("SIMT_WORKERS", bad);
    CHECK_THROWS_WITH(simt::cpu::settings_from_environment(),
                      "SIMT_WORKERS is \"" + std::string(bad) + "\"; allowed are 1 to 1024");
  }
  set_environment("SIMT_WORKERS", nullptr);
  CHECK(simt::cpu::settings_from_environment().schedule == Schedule::forward);
  CHECK(simt::cpu::settings_from_environment().workers == 0);
}
