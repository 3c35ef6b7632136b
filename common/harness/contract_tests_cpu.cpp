// SPDX-License-Identifier: MIT
/// @file
/// The part of contract_tests.hpp that looks inside the CPU device.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "common/attention/oracle.hpp"
#include "common/device/cpu/cpu_device.hpp"
#include "common/device/cpu/test_launch.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

/// The state of one thread's row after one tile.
struct TracedState {
  int n_block;
  float m, alpha, l;
  std::vector<float> a;  // the columns of the lane

  bool operator==(const TracedState&) const = default;
};

/// By query row and lane of the row: the states, tile after tile.
using Trace = std::map<std::pair<int, int>, std::vector<TracedState>>;

Trace traced_run(const Contract& contract, const Inputs& inputs, Mask mask, int block_n) {
  Trace trace;
  simt::cpu::set_trace_sink([&](const simt::cpu::TraceRecord& record) {
    if (record.q_row >= inputs.seq_len()) return;  // of a row past the end, which is not stored
    auto& states = trace[{record.q_row, int(record.thread_idx.x) % contract.layout.lanes}];
    states.push_back({record.n_block,
                      record.row_max,
                      record.rescale,
                      record.row_sum,
                      {record.acc_o.begin(), record.acc_o.end()}});
  });
  DeviceCase(inputs, mask, block_n).run(contract.attention);
  simt::cpu::set_trace_sink({});
  return trace;
}

/// One worker and three, forward and in reverse: all give the same bits.
void check_schedules_agree(const Contract& contract, const Inputs& inputs, Mask mask, int block_n) {
  using simt::cpu::Schedule;
  const KeptSettings kept;
  DeviceCase device_case(inputs, mask, block_n);
  const auto run = [&](Schedule schedule, int workers) {
    simt::cpu::settings().schedule = schedule;
    simt::cpu::settings().workers = workers;
    return device_case.run(contract.attention);
  };
  const auto o = run(Schedule::forward, 1);
  CHECK(run(Schedule::reverse, 1) == o);
  CHECK(run(Schedule::forward, 3) == o);
  CHECK(run(Schedule::reverse, 3) == o);
}

}  // namespace

void check_schedules_agree(const Contract& contract) {
  for (const char* family : {"normal", "rising"}) {  // in the second the maximum moves at each tile
    for (const ElementType type : kTypes) {
      for (const int d : kHeadDims) {
        for (const int n : lengths_of(contract.stage, {77, 160})) {
          for (const Mask mask : masks_of(contract.stage)) {
            for (const int block_n : contract.stage.promise.block_n) {
              INFO(name_of_case(family, type, n, d, mask, block_n));
              check_schedules_agree(contract, make_inputs(family, type, n, d, 9), mask, block_n);
            }
          }
        }
      }
    }
  }
}

namespace {

void check_state_is_attention_so_far(const Contract& contract, int block_n) {
  constexpr int kTiles = 3;
  const Inputs inputs = make_inputs("rising", ElementType::fp16, kTiles * block_n, 32, 13);
  const auto q = widen(inputs.type, inputs.q);
  const auto k = widen(inputs.type, inputs.k);
  const auto v = widen(inputs.type, inputs.v);
  const double largest_v = std::abs(
      *std::ranges::max_element(v.values, {}, [](double value) { return std::abs(value); }));
  const double tolerance = 2 * unit_roundoff(inputs.type) * largest_v;

  std::vector<Matrix<double>> so_far;  // attention over the first 1, 2, 3 tiles of keys
  for (int tile = 1; tile <= kTiles; ++tile) {
    so_far.push_back(attention_oracle(q, first_rows(k, tile * block_n),
                                      first_rows(v, tile * block_n), Mask::none));
  }
  const Trace trace = traced_run(contract, inputs, Mask::none, block_n);
  REQUIRE(trace.size() == std::size_t(inputs.seq_len() * contract.layout.lanes));
  for (const auto& [where, states] : trace) {
    const auto [row, lane] = where;
    REQUIRE(states.size() == kTiles);
    CHECK(states[0].alpha == 0);
    for (int tile = 0; tile < kTiles; ++tile) {
      const TracedState& state = states[tile];
      CHECK(state.n_block == tile);
      CHECK(state.alpha <= 1);
      CHECK(state.m == trace.at({row, 0})[tile].m);  // all lanes of the row carry the same m, l
      CHECK(state.l == trace.at({row, 0})[tile].l);
      for (int i = 0; i < int(state.a.size()); ++i) {
        const double expected = so_far[tile](row, contract.layout.column(lane, i));
        REQUIRE(std::abs(state.a[i] / state.l - expected) <= tolerance);
      }
    }
  }
}

}  // namespace

void check_state_is_attention_so_far(const Contract& contract) {
  for (const int block_n : contract.stage.promise.block_n) {
    INFO("block_n " << block_n);
    check_state_is_attention_so_far(contract, block_n);
  }
}

namespace {

/// @returns how many tiles were wholly in the future of their row
int check_future_tiles_leave_the_state(const Contract& contract, int block_n) {
  int future_tiles = 0;
  for (const ElementType type : kTypes) {
    INFO(name_of(type));
    const Inputs inputs = make_inputs("normal", type, 3 * block_n + 5, 16, 17);
    for (const auto& [where, states] : traced_run(contract, inputs, Mask::causal, block_n)) {
      for (int tile = 1; tile < int(states.size()); ++tile) {
        if (tile * block_n <= where.first) continue;  // the row sees some of its keys
        ++future_tiles;
        CHECK(states[tile].alpha == 1);
        CHECK(states[tile].m == states[tile - 1].m);
        CHECK(states[tile].l == states[tile - 1].l);
        CHECK(states[tile].a == states[tile - 1].a);
      }
    }
  }
  return future_tiles;
}

}  // namespace

void check_future_tiles_leave_the_state(const Contract& contract) {
  int future_tiles = 0;
  for (const int block_n : contract.stage.promise.block_n) {
    INFO("block_n " << block_n);
    future_tiles += check_future_tiles_leave_the_state(contract, block_n);
  }
  CHECK(future_tiles > 0);
}

namespace {

/// `states` are those of the tiles up to the row's own, and what `all` holds for these tiles.
void check_prefix_of(const std::vector<TracedState>& states, const std::vector<TracedState>& all,
                     int q_row, int block_n) {
  REQUIRE(int(states.size()) == std::min(q_row / block_n + 1, int(all.size())));
  CHECK(std::equal(states.begin(), states.end(), all.begin()));
}

}  // namespace

void check_future_tiles_are_skipped(const Contract& contract, const Contract& previous) {
  for (const int block_n : contract.stage.promise.block_n) {
    for (const int n : {3 * block_n + 5, 4 * block_n}) {
      const Inputs inputs = make_inputs("rising", ElementType::bf16, n, 16, 19);
      INFO(name_of_case("rising", inputs.type, n, 16, Mask::causal, block_n));
      const Trace all = traced_run(previous, inputs, Mask::causal, block_n);
      const Trace visited = traced_run(contract, inputs, Mask::causal, block_n);
      REQUIRE(visited.size() == all.size());
      for (const auto& [where, states] : visited) {
        check_prefix_of(states, all.at(where), where.first, block_n);
      }
    }
  }
}

}  // namespace workshop
