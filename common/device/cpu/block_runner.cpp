// SPDX-License-Identifier: MIT
/// @file
/// The life of a block: threads, barriers, warp operations, the end.
#include "common/device/cpu/block_runner.hpp"

#include <bit>
#include <exception>
#include <map>
#include <vector>

#include "common/device/cpu/reports.hpp"
#include "common/device/cpu/sanitizer_stack.hpp"

constinit thread_local uint3 threadIdx = {};
constinit thread_local uint3 blockIdx = {};
constinit thread_local dim3 blockDim = {};
constinit thread_local dim3 gridDim = {};

namespace simt::cpu {
namespace {

constexpr std::size_t kDefaultStackBytes = (kAddressSanitizer ? 256 : 128) * 1024;

}  // namespace

BlockRunner::BlockRunner(dim3 block, std::size_t shared_bytes, const Settings& settings,
                         KernelCall kernel)
    : kernel_(kernel),
      schedule_(settings.schedule),
      stacks_(int(block.x * block.y * block.z),
              settings.stack_bytes > 0 ? settings.stack_bytes : kDefaultStackBytes),
      shared_memory_(shared_bytes),
      scheduler_(int(block.x * block.y * block.z), settings.schedule) {
  int index = 0;
  for (unsigned z = 0; z < block.z; ++z) {
    for (unsigned y = 0; y < block.y; ++y) {
      for (unsigned x = 0; x < block.x; ++x, ++index) {
        threads_.emplace_back(index, uint3{x, y, z}, stacks_[index], &thread_main);
      }
    }
  }
  current_ = this;
}

BlockRunner::~BlockRunner() {
  retiring_ = true;
  for (CudaThread& thread : threads_) {
    if (!thread.abandoned) os_thread_.switch_to(thread.fiber);
  }
  current_ = nullptr;
}

void BlockRunner::run(uint3 block) {
  blockIdx = block;
  shared_memory_.poison();
  scheduler_.restart();
  alive_ = int(threads_.size());
  at_barrier_ = 0;
  first_at_barrier_ = first_exited_ = nullptr;

  run_ready_threads();
  if (!fault_ && alive_ > 0) {
    stop_block(deadlock_report());
    run_ready_threads();
  }
  if (!fault_) {
    if (const auto offset = shared_memory_.damage()) {
      fault_ = reports::shared_memory_damaged(*offset, shared_memory_.bytes());
    }
  }
  if (fault_) throw KernelFault(*fault_);
  ++counts_.blocks;
}

void BlockRunner::run_ready_threads() {
  while (CudaThread* next = at(scheduler_.next())) {
    running_ = next;
    threadIdx = next->thread_idx;
    os_thread_.switch_to(next->fiber);
    if (memory_fault_) bury_running_thread();
    running_ = nullptr;
  }
}

/// `thread`, which is running, is left until it is the next to run.
inline void BlockRunner::hand_over(CudaThread& thread) {
  CudaThread* next = at(scheduler_.next());
  if (next == &thread) return;
  running_ = next;
  if (next) threadIdx = next->thread_idx;
  thread.fiber.switch_to(next ? next->fiber : os_thread_);
}

/// What a fiber does: the kernel, once for each block.
Fiber& BlockRunner::thread_main(void* argument) {
  CudaThread& thread = *static_cast<CudaThread*>(argument);
  BlockRunner& runner = *current_;
  while (!runner.retiring_) {
    runner.run_kernel(thread);
    runner.hand_over(thread);
  }
  return runner.os_thread_;
}

void BlockRunner::run_kernel(CudaThread& thread) {
  thread.arrival = {};
  thread.async_copies.clear();
  catch_faults(thread, [&] {
    kernel_();
    if (const AsyncCopies::Copy* copy = thread.async_copies.oldest()) {
      throw KernelFault(reports::copy_not_waited_for(thread, copy->site));
    }
  });
  scheduler_.stop(thread.index, ThreadState::exited);
  --alive_;
  if (!first_exited_) first_exited_ = &thread;
  catch_faults(thread, [&] { release_waiters_of(thread); });
}

/// A failing thread unwinds its own stack and ends here. (No switch inside a handler: the exceptions
/// being handled are a stack of the OS thread, which fibers share.)
template <typename Step>
void BlockRunner::catch_faults(const CudaThread& thread, const Step& step) {
  if (fault_) return;
  try {
    step();
  } catch (const Unwind&) {
  } catch (const KernelFault& fault) {
    stop_block(fault.what());
  } catch (const std::exception& exception) {
    stop_block(reports::exception_thrown(thread, exception.what()));
  } catch (...) {
    stop_block(reports::exception_thrown(thread, "something that is no std::exception"));
  }
}

void BlockRunner::wait(ThreadState state) {
  if (state != ThreadState::ready) scheduler_.stop(running_->index, state);
  hand_over(*running_);
  if (fault_) throw Unwind();
}

void BlockRunner::yield() { wait(ThreadState::yielded); }

void BlockRunner::block_barrier(Site site) {
  CudaThread& self = *running_;
  self.arrival = {site};
  if (first_exited_) throw KernelFault(reports::exited_before_barrier(*first_exited_, self));
  if (at_barrier_ == 0) first_at_barrier_ = &self;
  if (!same_line(site, first_at_barrier_->arrival.site)) {
    throw KernelFault(reports::barriers_differ(*first_at_barrier_, self));
  }
  if (++at_barrier_ < alive_) return wait(ThreadState::at_block_barrier);
  at_barrier_ = 0;
  ++counts_.block_barriers;
  scheduler_.wake_all(ThreadState::at_block_barrier);
  wait(ThreadState::ready);
}

void BlockRunner::warp_collective(const WarpOperation& operation, unsigned mask, void* arguments,
                                  Site site) {
  CudaThread& self = *running_;
  self.arrival = {site, &operation, mask, arguments};
  if (!(mask >> self.lane() & 1)) throw KernelFault(reports::not_in_own_mask(self));
  scheduler_.stop(self.index, ThreadState::at_warp_operation);
  finish_warp_operation(self);
  hand_over(self);
  if (fault_) throw Unwind();
}

/// If every lane of `self`'s mask is here with the same operation, or has exited: computes for all of
/// them and wakes them.
void BlockRunner::finish_warp_operation(const CudaThread& self) {
  const int warp = self.warp();
  const Arrival& own = self.arrival;
  const unsigned waiting = scheduler_.lanes(warp, ThreadState::at_warp_operation) & own.mask;
  if (waiting != (own.mask & ~scheduler_.lanes(warp, ThreadState::exited))) return;

  WarpCall call = {};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(waiting >> lane & 1)) continue;
    const Arrival& arrival = thread_of(warp, lane).arrival;
    if (arrival.operation != own.operation || arrival.mask != own.mask) continue;
    call.present |= 1u << lane;
    call.arguments[lane] = arrival.arguments;
  }
  if (call.present != waiting) return require_no_mismatch(warp, call.present, waiting);

  own.operation->compute(call);
  counts_.*own.operation->counter += own.operation->instructions;
  scheduler_.wake(warp, waiting, ThreadState::at_warp_operation);
}

/// Of the lanes that `group` waits for some wait with another operation or mask. That is a fault if
/// they, too, wait for one of the group; else they will finish with others first.
void BlockRunner::require_no_mismatch(int warp, unsigned group, unsigned waiting) const {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!((waiting & ~group) >> lane & 1)) continue;
    const CudaThread& other = thread_of(warp, lane);
    if (const unsigned both = other.arrival.mask & group) {
      const CudaThread& member = thread_of(warp, std::countr_zero(both));
      throw KernelFault(reports::warp_operations_differ(other, member));
    }
  }
}

/// A thread that exits may be the last that others waited for.
void BlockRunner::release_waiters_of(const CudaThread& exited) {
  if (at_barrier_ > 0) {
    throw KernelFault(reports::exited_before_barrier(exited, *first_at_barrier_));
  }
  const int warp = exited.warp();
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(scheduler_.lanes(warp, ThreadState::at_warp_operation) >> lane & 1)) continue;
    const CudaThread& waiting = thread_of(warp, lane);
    if (waiting.arrival.mask >> exited.lane() & 1) finish_warp_operation(waiting);
  }
}

void BlockRunner::stop_block(const std::string& fault) {
  if (!fault_) fault_ = fault;
  scheduler_.wake_all(ThreadState::yielded);
  scheduler_.wake_all(ThreadState::at_warp_operation);
  scheduler_.wake_all(ThreadState::at_block_barrier);
}

void BlockRunner::abandon_running_thread(MemoryFault fault) {
  memory_fault_ = fault;
  running_->fiber.switch_to(os_thread_);
}

void BlockRunner::bury_running_thread() {
  CudaThread& thread = *running_;
  thread.abandoned = true;
  thread.fiber.abandon();
  scheduler_.stop(thread.index, ThreadState::exited);
  --alive_;
  stop_block(memory_fault_report(thread));
  memory_fault_.reset();
}

std::string BlockRunner::memory_fault_report(const CudaThread& thread) const {
  const void* address = memory_fault_->address;
  if (!memory_fault_->address_is_known) return reports::misaligned_access(thread);
  if (shared_memory_.contains(address)) {
    const auto offset = static_cast<const std::byte*>(address) - shared_memory_.data();
    return reports::outside_shared_memory(thread, offset, shared_memory_.bytes());
  }
  if (stacks_.contains(address)) return reports::stack_overflow(thread, stacks_.bytes());
  return reports::illegal_address(thread, address);
}

std::string BlockRunner::deadlock_report() const {
  std::map<std::string, std::vector<const CudaThread*>> groups;
  for (const CudaThread& thread : threads_) {
    const unsigned exited = scheduler_.lanes(thread.warp(), ThreadState::exited);
    const bool has_exited = exited >> thread.lane() & 1;
    groups[has_exited ? "exited" : reports::waiting_place(thread.arrival)].push_back(&thread);
  }
  return reports::deadlock(groups);
}

}  // namespace simt::cpu
