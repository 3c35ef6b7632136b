// SPDX-License-Identifier: MIT
/// @file
/// What a CUDA thread calls, passed on to the runner of its block.
#include "common/device/cpu/runtime.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "common/device/cpu/block_runner.hpp"
#include "common/device/cpu/reports.hpp"

namespace simt::cpu {

void block_barrier(Site site) { BlockRunner::current()->block_barrier(site); }

void yield() { BlockRunner::current()->yield(); }

void* dynamic_shared_memory(std::size_t bytes) {
  BlockRunner& runner = *BlockRunner::current();
  const SharedMemory& memory = runner.shared_memory();
  if (bytes > memory.bytes()) {
    throw KernelFault(reports::too_little_shared_memory(*runner.running(), bytes, memory.bytes()));
  }
  return memory.data();
}

void WarpCall::fault(int lane, const std::string& kind, const std::string& what) const {
  const CudaThread& thread = BlockRunner::current()->on_lane(lane);
  const std::string place = reports::waiting_place(thread.arrival);
  throw KernelFault(reports::custom(kind, thread, place, what));
}

void warp_collective(const WarpOperation& operation, unsigned mask, void* arguments, Site site) {
  BlockRunner::current()->warp_collective(operation, mask, arguments, site);
}

int lane_id() { return BlockRunner::current()->running()->lane(); }

void count(std::uint64_t Counts::*counter, std::uint64_t events) {
  BlockRunner::current()->count(counter, events);
}

void require_shared_vector(const void* address, const char* instruction, Site site) {
  constexpr std::size_t kBytes = 16;
  const BlockRunner& runner = *BlockRunner::current();
  const SharedMemory& memory = runner.shared_memory();
  if (!memory.holds(address, kBytes)) {
    throw KernelFault(
        reports::not_in_shared_memory(*runner.running(), instruction, site, address, memory));
  }
  if (reinterpret_cast<std::uintptr_t>(address) % kBytes != 0) {
    throw KernelFault(
        reports::misaligned_shared_vector(*runner.running(), instruction, site, address, memory));
  }
}

void fault(const std::string& kind, const std::string& what, Site site) {
  const CudaThread& thread = *BlockRunner::current()->running();
  throw KernelFault(reports::custom(kind, thread, to_text(site), what));
}

void require_aligned(const void* address, std::size_t bytes, Site site) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
  fault("misaligned access",
        fmt::format("{} is no multiple of {} bytes; a GPU stops with \"misaligned address\"",
                    address, bytes),
        site);
}

}  // namespace simt::cpu
