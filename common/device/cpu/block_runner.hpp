// SPDX-License-Identifier: MIT
/// @file
/// Runs the blocks of a grid one after the other on one OS thread, each CUDA thread on a fiber.
///
/// A thread runs until it has to wait; then it hands over to the next that can run (scheduler.hpp).
/// When none can, control is back in `run`: the block is done, or it is a deadlock. On a fault all
/// threads are woken to unwind their stacks, so that the fibers can be used again.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "common/device/cpu/async_copies.hpp"
#include "common/device/cpu/cpu_device.hpp"
#include "common/device/cpu/fiber.hpp"
#include "common/device/cpu/guarded_memory.hpp"
#include "common/device/cpu/runtime.hpp"
#include "common/device/cpu/scheduler.hpp"

namespace simt::cpu {

/// Where a thread waits, or waited last, and with what.
struct Arrival {
  Site site = {};                            // file null: it has not waited yet
  const WarpOperation* operation = nullptr;  // null: __syncthreads()
  unsigned mask = 0;
  void* arguments = nullptr;
};

struct CudaThread {
  CudaThread(int index_, uint3 thread_idx_, StackMemory stack, FiberEntry entry)
      : index(index_), thread_idx(thread_idx_), fiber(stack, entry, this) {}

  int warp() const { return index / kWarpSize; }
  int lane() const { return index % kWarpSize; }

  int index;  // x fastest: what CUDA cuts into warps
  uint3 thread_idx;
  Fiber fiber;
  Arrival arrival;
  AsyncCopies async_copies;
  bool abandoned = false;
};

/// An access that the system refused, as the signal handler saw it.
struct MemoryFault {
  const void* address;
  bool address_is_known;  // false: misaligned, or no address at all
};

class BlockRunner {
 public:
  BlockRunner(dim3 block, std::size_t shared_bytes, const Settings& settings, KernelCall kernel);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// @throws KernelFault; the runner is of no use after it
  void run(uint3 block);

  const Counts& counts() const { return counts_; }

  /// The runner of this OS thread, null where no kernel runs.
  static BlockRunner* current() { return current_; }

  // What the running CUDA thread calls.
  void block_barrier(Site site);
  void warp_collective(const WarpOperation& operation, unsigned mask, void* arguments, Site site);
  void yield();
  const SharedMemory& shared_memory() const { return shared_memory_; }
  AsyncCopies& async_copies() { return running_->async_copies; }
  Schedule schedule() const { return schedule_; }
  void count(std::uint64_t Counts::*counter, std::uint64_t events) { counts_.*counter += events; }

  /// The thread that runs, null between two; and the thread on a lane of its warp.
  const CudaThread* running() const { return running_; }
  const CudaThread& on_lane(int lane) const { return thread_of(running_->warp(), lane); }

  /// From a signal handler: leaves the running thread for good.
  void abandon_running_thread(MemoryFault fault);

 private:
  struct Unwind {};  // thrown through the kernel when another thread has a fault

  static Fiber& thread_main(void* argument);
  void run_ready_threads();
  void run_kernel(CudaThread& thread);
  template <typename Step>
  void catch_faults(const CudaThread& thread, const Step& step);
  [[gnu::always_inline]] void hand_over(CudaThread& thread);
  void wait(ThreadState state);

  void finish_warp_operation(const CudaThread& self);
  void require_no_mismatch(int warp, unsigned group, unsigned waiting) const;
  void release_waiters_of(const CudaThread& exited);

  void stop_block(const std::string& fault);
  void bury_running_thread();
  std::string memory_fault_report(const CudaThread& thread) const;
  std::string deadlock_report() const;

  CudaThread* at(int thread) { return thread < 0 ? nullptr : &threads_[std::size_t(thread)]; }
  const CudaThread& thread_of(int warp, int lane) const {
    return threads_[std::size_t(warp * kWarpSize + lane)];
  }

  static inline constinit thread_local BlockRunner* current_ = nullptr;

  KernelCall kernel_;
  Schedule schedule_;
  Stacks stacks_;
  SharedMemory shared_memory_;
  Scheduler scheduler_;
  Counts counts_;

  Fiber os_thread_;
  std::deque<CudaThread> threads_;
  CudaThread* running_ = nullptr;
  bool retiring_ = false;

  // Of the block that runs.
  int alive_ = 0;
  int at_barrier_ = 0;
  const CudaThread* first_at_barrier_ = nullptr;
  const CudaThread* first_exited_ = nullptr;
  std::optional<MemoryFault> memory_fault_;
  std::optional<std::string> fault_;
};

}  // namespace simt::cpu
