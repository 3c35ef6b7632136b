// SPDX-License-Identifier: MIT
/// @file
/// The device as the host sees it: the same declarations for the CPU device and for a GPU.
/// No CUDA header is needed to use it; a program links one of the two sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;

namespace simt {

/// `cudaStream_t`, nameable without CUDA's headers. The CPU device has the default stream alone.
using Stream = CUstream_st*;

/// What a program can be linked to.
enum class DeviceKind { cpu, gpu };

/// Which side this program is linked to.
DeviceKind device_kind();

/// The device is missing, too old, or failed: nothing to do with the kernel's result.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// There is none: no GPU, no driver, or none of the compute capability that a kernel needs. Tests skip
/// where this is so, and only there.
struct NoDevice : DeviceError {
  using DeviceError::DeviceError;
};

/// A fault of the kernel that the device saw: a divergent barrier, a deadlock, an access outside.
struct KernelFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a device says of itself.
struct DeviceInfo {
  DeviceKind kind;
  std::string name;         // "NVIDIA H200", or "CPU device"
  std::string description;  // what a result file should keep: driver, runtime, fibers, workers
};

/// @throws NoDevice, or DeviceError if it cannot be used: a driver older than the toolkit, say
DeviceInfo device_info();

/// To be asked before a kernel is launched that an older GPU cannot run; nothing on the CPU device.
/// @param needed  ten times the compute capability: 80 for 8.0
/// @throws NoDevice if the GPU has less, naming it; else as device_info()
void require_compute_capability(int needed);

/// Waits for all that was launched.
/// @throws KernelFault or DeviceError, naming the launch that failed
void synchronize(Stream stream = nullptr);

/// How long the device takes for one launch, in milliseconds: the mean of several in a row; waits for
/// the last. Device time on a GPU, the host's clock for the CPU device.
///
/// A GPU replays more than one from a CUDA graph, after a round ahead of the clock, so that it never
/// waits for the host.
/// @param launch    launches once, into the stream that it is given
/// @param launches  at least so many: a GPU rounds up to whole graphs
/// @throws KernelFault or DeviceError as synchronize()
double time_ms(const std::function<void(Stream)>& launch, int launches = 1);

/// How often kernels did one kind of operation.
struct OperationCount {
  std::string_view name;  // "shuffles"
  std::uint64_t count;
};

/// What all launches of this program did so far, always the same operations in the same order: what
/// the CPU device counts. Nothing on a GPU, where a profiler counts.
std::vector<OperationCount> operation_counts();

/// An array in the device's memory, 16-byte aligned, with the words of guard.hpp on both sides.
class Buffer {
 public:
  /// @throws DeviceError if there is no memory
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() { return data_; }
  const void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Sets every byte: 0xff makes NaN of any of our types.
  void fill(unsigned char byte);
  void upload(const void* host);
  void download(void* host) const;

  /// Whether the words before and after the array still hold what was put there.
  bool guards_intact() const;

 private:
  std::size_t bytes_;
  std::byte* allocation_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace simt
