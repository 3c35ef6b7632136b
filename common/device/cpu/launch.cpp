// SPDX-License-Identifier: MIT
/// @file
/// A launch: checks what CUDA would check, then shares the blocks out over OS threads.
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/device/cpu/block_runner.hpp"
#include "common/device/cpu/counts.hpp"
#include "common/device/cpu/cuda_names.hpp"
#include "common/device/cpu/memory_faults.hpp"
#include "common/device/cpu/reports.hpp"

namespace simt::cpu {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (9.0).
constexpr std::uint64_t kMaxGrid[] = {2'147'483'647, 65'535, 65'535};
constexpr std::uint64_t kMaxBlock[] = {1024, 1024, 64};
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::size_t kMaxSharedBytes = 227 * 1024;

// A fiber's stack and its guard are two mappings, of which Linux allows a process 65,530.
constexpr std::uint64_t kMaxFibers = 16'384;

std::uint64_t volume(dim3 size) { return std::uint64_t(size.x) * size.y * size.z; }

bool within(dim3 size, const std::uint64_t (&limits)[3]) {
  return volume(size) > 0 && size.x <= limits[0] && size.y <= limits[1] && size.z <= limits[2];
}

void require_launchable(dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, Site site) {
  const auto refuse = [&](const std::string& what) {
    throw DeviceError(fmt::format("launch at {}: {}", to_text(site), what));
  };
  if (!within(grid, kMaxGrid)) {
    refuse(fmt::format("a grid of ({},{},{}) blocks; CUDA has 1 to (2147483647,65535,65535)",
                       grid.x, grid.y, grid.z));
  }
  if (!within(block, kMaxBlock) || volume(block) > kMaxThreads) {
    refuse(
        fmt::format("a block of ({},{},{}) threads; CUDA has 1 to (1024,1024,64), and at most 1024 "
                    "in all",
                    block.x, block.y, block.z));
  }
  if (shared_bytes > kMaxSharedBytes) {
    refuse(fmt::format("{} bytes of dynamic shared memory a block; CUDA has at most {} (227 KiB)",
                       shared_bytes, kMaxSharedBytes));
  }
  if (stream) refuse("a stream of its own; the CPU device has the default stream alone");
  if (BlockRunner::current()) refuse("from inside a kernel; only the host launches");
}

/// One launch: its blocks, handed out in the order of the schedule, and what became of them.
class Launch {
 public:
  Launch(dim3 grid, dim3 block, std::size_t shared_bytes, Site site, KernelCall kernel)
      : grid_(grid), block_(block), shared_bytes_(shared_bytes), site_(site), kernel_(kernel) {}

  /// What each worker does.
  void run_blocks() {
    try {
      const SignalStack signal_stack;
      BlockRunner runner(block_, shared_bytes_, settings_, kernel_);
      blockDim = block_;
      gridDim = grid_;
      run_blocks_on(runner);
      add_counts(runner.counts());
    } catch (...) {
      fail(0, std::current_exception());
    }
  }

  int workers() const {
    std::uint64_t workers = settings_.workers > 0 ? std::uint64_t(settings_.workers)
                                                  : std::thread::hardware_concurrency();
    workers = std::min({workers, volume(grid_), kMaxFibers / volume(block_)});
    return int(std::max<std::uint64_t>(workers, 1));
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run_blocks_on(BlockRunner& runner) {
    for (std::uint64_t turn = 0; (turn = next_turn_.fetch_add(1)) < volume(grid_);) {
      try {
        runner.run(block_of(turn));
      } catch (const KernelFault& fault) {
        return fail(turn, std::make_exception_ptr(KernelFault(fmt::format(
                              "{} (kernel launched at {})", fault.what(), to_text(site_)))));
      }
    }
  }

  uint3 block_of(std::uint64_t turn) const {
    const std::uint64_t index =
        settings_.schedule == Schedule::forward ? turn : volume(grid_) - 1 - turn;
    const std::uint64_t row = index / grid_.x;
    return {unsigned(index % grid_.x), unsigned(row % grid_.y), unsigned(row / grid_.y)};
  }

  /// Hands out no more blocks; those under way run to their end. Of several failures the earliest
  /// turn is kept, so that the report does not depend on which worker is faster.
  void fail(std::uint64_t turn, std::exception_ptr failure) {
    next_turn_ = volume(grid_);
    const std::lock_guard lock(failure_mutex_);
    if (failure_ && failed_turn_ <= turn) return;
    failure_ = std::move(failure);
    failed_turn_ = turn;
  }

  const dim3 grid_;
  const dim3 block_;
  const std::size_t shared_bytes_;
  const Site site_;
  const KernelCall kernel_;
  const Settings settings_ = settings();

  std::atomic<std::uint64_t> next_turn_ = 0;
  std::mutex failure_mutex_;
  std::uint64_t failed_turn_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, Site site,
              KernelCall kernel) {
  require_launchable(grid, block, shared_bytes, stream, site);
  static std::mutex one_at_a_time;  // as on the default stream
  const std::lock_guard lock(one_at_a_time);

  Launch launch(grid, block, shared_bytes, site, kernel);
  {
    const MemoryFaultHandler handler;
    std::vector<std::jthread> workers;
    for (int i = 1; i < launch.workers(); ++i) workers.emplace_back([&] { launch.run_blocks(); });
    launch.run_blocks();  // the calling thread works too: with one worker gdb sees no other
  }
  Counts counts;
  counts.launches = 1;
  add_counts(counts);
  launch.rethrow_failure();
}

}  // namespace simt::cpu
