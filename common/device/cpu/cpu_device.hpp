// SPDX-License-Identifier: MIT
/// @file
/// What a host program or a test may set and read on the CPU device. (A kernel needs none of it.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "common/device/cpu/cuda_types.hpp"

namespace simt::cpu {

/// The order in which blocks, the warps of a block and the lanes of a warp run. Both are legal, and
/// any two that no barrier orders run one way round in the first and the other in the second: a
/// kernel whose outputs differ has a race.
///
/// So with asynchronous copies (simt::cp_async16): forward does one as late as the rules allow, at the
/// wait of its thread that asks for it, so that a missing or too weak wait reads poison; reverse does
/// it at once, so that a copy that starts too early overwrites what others still read.
enum class Schedule { forward, reverse };

struct Settings {
  Schedule schedule = Schedule::forward;
  int workers = 0;              // OS threads that blocks are shared out over; 0: one a core
  std::size_t stack_bytes = 0;  // of a CUDA thread; 0: 128 KiB, twice that under AddressSanitizer
};

/// What SIMT_SCHEDULE=forward|reverse and SIMT_WORKERS=1..1024 say.
/// @throws workshop::Refusal if they say something else
Settings settings_from_environment();

/// The settings of the next launch; they start as the environment says.
/// @throws workshop::Refusal as settings_from_environment
Settings& settings();

/// What kernels did, counted as a profiler counts it: an instruction of a warp once, not 32 times.
struct Counts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t block_barriers = 0;  // __syncthreads(), once a block
  std::uint64_t warp_barriers = 0;   // __syncwarp()
  std::uint64_t shuffles = 0;        // __shfl_*_sync()
  std::uint64_t votes = 0;           // __ballot_sync(), __any_sync(), __all_sync()
  std::uint64_t mma = 0;             // simt::mma_m16n8k16
  std::uint64_t ldmatrix = 0;        // simt::ldmatrix_x4, simt::ldmatrix_x4_trans

  /// Wavefronts that bank conflicts add to ldmatrix. The 8 rows of a matrix take as many as lie in one
  /// group of 4 banks (16 bytes): 1 at best, 8 where all do, as at a stride of 128 bytes; so 0 to 7 a
  /// matrix, 0 to 28 an instruction.
  std::uint64_t ldmatrix_conflicts = 0;

  std::uint64_t async_copies = 0;  // simt::cp_async16: copies of 16 bytes, one a thread

  Counts& operator+=(const Counts& other);
};

/// Of all launches since `reset_counts`, or since the program began.
Counts counts();
void reset_counts();

/// One call of simt::trace: the state that a thread carries for a query row after a tile of keys.
struct TraceRecord {
  uint3 block_idx;
  uint3 thread_idx;
  int q_row;
  int n_block;                   // the tile of keys
  float row_max;                 // m
  float rescale;                 // alpha
  float row_sum;                 // l
  std::span<const float> acc_o;  // a, the thread's columns; valid during the call
};

/// Called for every record, by one thread at a time; blocks that run side by side interleave (with
/// one worker they do not). An empty function ends tracing.
void set_trace_sink(std::function<void(const TraceRecord&)> sink);

}  // namespace simt::cpu
