// SPDX-License-Identifier: MIT
/// @file
/// The words of every report.
#include "common/device/cpu/reports.hpp"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "common/device/cpu/cuda_names.hpp"

namespace simt::cpu {

bool same_line(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string to_text(Site site) {
  std::string_view file = site.file;
  const auto name = file.rfind('/');
  const auto folder = name == file.npos || name == 0 ? file.npos : file.rfind('/', name - 1);
  if (folder != file.npos) file.remove_prefix(folder + 1);
  return fmt::format("{}:{}", file, site.line);
}

std::string to_text(uint3 index) { return fmt::format("({},{},{})", index.x, index.y, index.z); }

namespace reports {
namespace {

/// Without the race build the line of a load or store is not known: the nearest that is.
std::string last_seen(const CudaThread& thread) {
  if (!thread.arrival.site.file) return "before its first barrier or warp operation";
  return "after " + waiting_place(thread.arrival);
}

/// "byte 24"; of an address that is far away only that it is.
std::string place_in(const SharedMemory& memory, const void* address) {
  if (!memory.contains(address)) return "an address of other memory";
  return fmt::format("byte {}", static_cast<const std::byte*>(address) - memory.data());
}

}  // namespace

std::string name_of(const CudaThread& thread) {
  return fmt::format("thread {} of block {}", to_text(thread.thread_idx), to_text(blockIdx));
}

std::string waiting_place(const Arrival& arrival) {
  if (!arrival.operation) return fmt::format("__syncthreads() {}", to_text(arrival.site));
  return fmt::format("{}() with mask {:#x}, {}", arrival.operation->name, arrival.mask,
                     to_text(arrival.site));
}

std::string custom(const std::string& kind, const CudaThread& thread, const std::string& place,
                   const std::string& what) {
  return fmt::format("{}: {} at {}: {}", kind, name_of(thread), place, what);
}

std::string exited_before_barrier(const CudaThread& exited, const CudaThread& waiting) {
  return fmt::format(
      "divergent barrier: {} waits at {}, but thread {} has exited: every thread of a block must "
      "reach a barrier; on a GPU the block would hang or go on with stale data",
      name_of(waiting), waiting_place(waiting.arrival), to_text(exited.thread_idx));
}

std::string barriers_differ(const CudaThread& first, const CudaThread& second) {
  return fmt::format(
      "divergent barrier: {} waits at {}, but thread {} at {}: all threads of a block must reach "
      "the same barrier; on a GPU the block would hang or go on with stale data",
      name_of(first), waiting_place(first.arrival), to_text(second.thread_idx),
      waiting_place(second.arrival));
}

std::string warp_operations_differ(const CudaThread& first, const CudaThread& second) {
  return fmt::format(
      "mismatched warp operation: {} is at {}, but thread {} of the same warp at {}: all lanes of "
      "a mask must call the same function with the same mask; on a GPU the result is undefined",
      name_of(first), waiting_place(first.arrival), to_text(second.thread_idx),
      waiting_place(second.arrival));
}

std::string not_in_own_mask(const CudaThread& thread) {
  return fmt::format(
      "wrong mask: {} calls {}, and its own lane {} is not in that mask; on a GPU the result is "
      "undefined",
      name_of(thread), waiting_place(thread.arrival), thread.lane());
}

std::string deadlock(const std::map<std::string, std::vector<const CudaThread*>>& groups) {
  constexpr std::size_t kShown = 4;
  std::string text = fmt::format("deadlock in block {}: no thread can go on", to_text(blockIdx));
  for (const auto& [place, threads] : groups) {
    const bool one = threads.size() == 1;
    const std::string verb =
        place == "exited" ? (one ? "has" : "have") : (one ? "waits at" : "wait at");
    text += fmt::format("; {} thread{} {} {}:", threads.size(), one ? "" : "s", verb, place);
    for (std::size_t i = 0; i < threads.size() && i < kShown; ++i) {
      text += ' ' + to_text(threads[i]->thread_idx);
    }
    if (threads.size() > kShown) text += " ...";
  }
  return text + "; on a GPU the block would hang";
}

std::string exception_thrown(const CudaThread& thread, const std::string& what) {
  return fmt::format("exception: {} throws: {}; a kernel on a GPU cannot throw", name_of(thread),
                     what);
}

std::string too_little_shared_memory(const CudaThread& thread, std::size_t needed,
                                     std::size_t given) {
  return fmt::format(
      "too little shared memory: {} asks for {} bytes of dynamic shared memory, but the launch "
      "gave "
      "{}; on a GPU it would read and write outside of it",
      name_of(thread), needed, given);
}

std::string shared_memory_damaged(std::ptrdiff_t offset, std::size_t bytes) {
  return fmt::format(
      "shared memory overrun: a thread of block {} wrote at byte {} of {} bytes of dynamic shared "
      "memory, seen when the block ended; on a GPU it would hit an unused byte, or fail",
      to_text(blockIdx), offset, bytes);
}

std::string outside_shared_memory(const CudaThread& thread, std::ptrdiff_t offset,
                                  std::size_t bytes) {
  return fmt::format(
      "shared memory overrun: {} accesses byte {} of {} bytes of dynamic shared memory, {}; on a "
      "GPU "
      "it would fail, or hit bytes that are not its own (gdb or AddressSanitizer show the line)",
      name_of(thread), offset, bytes, last_seen(thread));
}

std::string misaligned_access(const CudaThread& thread) {
  return fmt::format(
      "misaligned access: {} loads or stores a vector at an address that is no multiple of its "
      "size (or at no valid address), {}; a GPU stops with \"misaligned address\" (gdb or "
      "UBSan show the line)",
      name_of(thread), last_seen(thread));
}

std::string not_in_shared_memory(const CudaThread& thread, const char* instruction, Site site,
                                 const void* address, const SharedMemory& memory) {
  return custom("outside shared memory", thread, to_text(site),
                fmt::format("{}() takes 16 bytes at {}, and the block has {} bytes of dynamic "
                            "shared memory; on a GPU it would fail, or hit bytes that are not its "
                            "own",
                            instruction, place_in(memory, address), memory.bytes()));
}

std::string misaligned_shared_vector(const CudaThread& thread, const char* instruction, Site site,
                                     const void* address, const SharedMemory& memory) {
  return custom("misaligned access", thread, to_text(site),
                fmt::format("{}() takes 16 bytes at {} of shared memory, which is no multiple of "
                            "16; a GPU stops with \"misaligned address\"",
                            instruction, place_in(memory, address)));
}

std::string copy_not_waited_for(const CudaThread& thread, Site site) {
  return custom("unwaited copy", thread, to_text(site),
                "it exits and has not waited for the copy that simt::cp_async16() began here "
                "(simt::cp_async_commit(), then simt::cp_async_wait<0>()); on a GPU the bytes may "
                "arrive at any time");
}

std::string illegal_address(const CudaThread& thread, const void* address) {
  return fmt::format(
      "illegal address: {} accesses {}, which is no memory it has, {}; a GPU stops with \"an "
      "illegal memory access was encountered\" (gdb or AddressSanitizer show the line)",
      name_of(thread), address, last_seen(thread));
}

std::string stack_overflow(const CudaThread& thread, std::size_t stack_bytes) {
  return fmt::format(
      "stack overflow: {} needs more than its {} bytes of stack, {}; raise "
      "simt::cpu::settings().stack_bytes; on a GPU large arrays of a thread go to slow local "
      "memory",
      name_of(thread), stack_bytes, last_seen(thread));
}

}  // namespace reports
}  // namespace simt::cpu
