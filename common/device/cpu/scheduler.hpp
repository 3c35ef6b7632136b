// SPDX-License-Identifier: MIT
/// @file
/// Which threads of a block can run, and which of them runs next.
///
/// Greedy: a warp runs until all its lanes wait for other warps (or have exited), then the next one
/// does. That sets warps as far apart as barriers allow, so a missing barrier shows; warps that
/// advance in step would hide it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "common/device/cpu/cpu_device.hpp"
#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {

/// The running thread counts as ready.
enum class ThreadState { ready, yielded, at_warp_operation, at_block_barrier, exited };
inline constexpr int kThreadStates = 5;

class Scheduler {
 public:
  Scheduler(int threads, Schedule schedule)
      : threads_(threads),
        forward_(schedule == Schedule::forward),
        warps_(std::size_t((threads + kWarpSize - 1) / kWarpSize)) {
    restart();
  }

  /// A new block: every thread is ready.
  void restart() {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      const int lanes = std::min(kWarpSize, threads_ - int(w) * kWarpSize);
      warps_[w] = {};
      mask(w, ThreadState::ready) = 0xffffffffu >> (kWarpSize - lanes);
      mask(w, ThreadState::exited) = ~mask(w, ThreadState::ready);  // lanes the block does not have
    }
    current_ = first_warp();
  }

  int warps() const { return int(warps_.size()); }

  /// The lanes of a warp that are in a state, a bit each.
  unsigned lanes(int warp, ThreadState state) const {
    return warps_[std::size_t(warp)][std::size_t(state)];
  }

  /// A thread that was ready is in `state` now.
  void stop(int thread, ThreadState state) {
    const auto warp = std::size_t(thread / kWarpSize);
    const unsigned lane = 1u << (thread % kWarpSize);
    mask(warp, ThreadState::ready) &= ~lane;
    mask(warp, state) |= lane;
  }

  void wake(int warp, unsigned lanes, ThreadState from) {
    mask(std::size_t(warp), from) &= ~lanes;
    mask(std::size_t(warp), ThreadState::ready) |= lanes;
  }

  /// Wakes every thread in a state; the schedule starts again at its first warp.
  void wake_all(ThreadState from) {
    for (int w = 0; w < warps(); ++w) wake(w, lanes(w, from), from);
    current_ = first_warp();
  }

  /// @returns the thread to run next, or -1 if none can
  int next() {
    const int thread = next_ready();
    if (thread >= 0) return thread;
    wake_all(ThreadState::yielded);
    return next_ready();
  }

 private:
  unsigned& mask(std::size_t warp, ThreadState state) { return warps_[warp][std::size_t(state)]; }
  int first_warp() const { return forward_ ? 0 : warps() - 1; }

  int next_ready() {
    for (int tried = 0; tried < warps(); ++tried) {
      if (const unsigned ready = lanes(current_, ThreadState::ready)) {
        const int lane = forward_ ? std::countr_zero(ready) : 31 - std::countl_zero(ready);
        return current_ * kWarpSize + lane;
      }
      current_ = forward_ ? (current_ + 1) % warps() : (current_ + warps() - 1) % warps();
    }
    return -1;
  }

  int threads_;
  bool forward_;
  int current_ = 0;                                         // warp
  std::vector<std::array<unsigned, kThreadStates>> warps_;  // a lane's bit is set in one state
};

}  // namespace simt::cpu
