// SPDX-License-Identifier: MIT
/// @file
/// What the inline part of the CPU device, compiled with a kernel, calls in the runtime, which is
/// compiled apart: a kernel may be built with instrumentation that the runtime must not have.
#pragma once

#include <cstddef>
#include <string>

#include "common/device/cpu/cpu_device.hpp"
#include "common/device/device.hpp"

namespace simt::cpu {

inline constexpr int kWarpSize = 32;

/// A line of a kernel or a launcher, for reports.
struct Site {
  const char* file;
  int line;

  /// As the default of a parameter: where the function is called. (clang 14 cannot compile
  /// libstdc++'s std::source_location.)
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A kernel with its arguments, to be called by every CUDA thread of a grid.
struct KernelCall {
  void (*invoke)(const void* closure);
  const void* closure;

  void operator()() const { invoke(closure); }
};

/// Runs all blocks and returns when the last is done.
/// @throws DeviceError for a launch that CUDA would refuse; names `site`
/// @throws KernelFault for the first block, in the order of the schedule, that has a fault
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, Site site,
              KernelCall kernel);

// The rest is called by a CUDA thread while its block runs.

/// __syncthreads().
void block_barrier(Site site);

/// Lets every other thread of the block go on first.
void yield();

/// The dynamic shared memory of the block, 128-byte aligned.
/// @throws KernelFault if the launch gave less than `bytes`
void* dynamic_shared_memory(std::size_t bytes);

/// All lanes of a warp operation, as its `compute` sees them.
struct WarpCall {
  unsigned present;            // a bit for each lane that takes part
  void* arguments[kWarpSize];  // of those lanes: what each gave to warp_collective

  bool has(int lane) const { return present >> lane & 1; }

  /// What that lane gave, by its type.
  template <typename Arguments>
  Arguments& of(int lane) const {
    return *static_cast<Arguments*>(arguments[lane]);
  }

  /// Blames one lane: "KIND: its name at what it called: WHAT".
  [[noreturn]] void fault(int lane, const std::string& kind, const std::string& what) const;
};

/// An operation that the lanes of a warp do together. A new one is a struct of arguments and one
/// `compute`; two operations are the same if they are the same object.
struct WarpOperation {
  const char* name;                  // as a kernel writes it
  std::uint64_t Counts::*counter;    // what it counts as,
  std::uint64_t instructions;        // and as how many
  void (*compute)(const WarpCall&);  // reads and writes the lanes' arguments
};

/// Waits until every lane in `mask` that has not exited is here; the last to come computes for all.
/// @throws KernelFault if the lanes disagree on the operation or the mask
void warp_collective(const WarpOperation& operation, unsigned mask, void* arguments, Site site);

/// The lane of the calling thread in its warp.
int lane_id();

/// Blames the calling thread: "KIND: its name at the site: WHAT".
[[noreturn]] void fault(const std::string& kind, const std::string& what, Site site);

/// @throws KernelFault if `address`, which a vector of `bytes` is read from or written to, is no
///         multiple of them
void require_aligned(const void* address, std::size_t bytes, Site site);

/// Adds to a counter of the launch.
void count(std::uint64_t Counts::*counter, std::uint64_t events);

/// An instruction accesses 16 bytes of shared memory at once.
/// @param instruction  as a kernel writes it
/// @throws KernelFault if they do not begin at a multiple of 16, or lie outside the block's memory
void require_shared_vector(const void* address, const char* instruction, Site site);

/// Whether a trace sink is set.
bool tracing();

/// Hands a record to the trace sink.
void record(const TraceRecord& record);

}  // namespace simt::cpu
