// SPDX-License-Identifier: MIT
/// @file
/// device.hpp for a GPU.
#include "common/device/device.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "common/device/cuda/cuda_check.hpp"
#include "common/device/guard.hpp"

namespace simt {
namespace {

// The last launch of this process, for errors that a kernel leaves behind while it runs.
struct LaunchSite {
  const char* file = "";
  int line = 0;
};
LaunchSite last_launch;

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int driver_version() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return version;
}

struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

/// By three quick calls, since launchers ask. 0.0 where there is no GPU.
ComputeCapability compute_capability() {
  int device = 0;
  ComputeCapability has;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&has.major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&has.minor, cudaDevAttrComputeCapabilityMinor, device);
  return has;
}

/// What to do about an error that a reader is likely to meet.
std::string advice(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver:
      if (driver_version() == 0) {
        return "; no NVIDIA driver is loaded (does `nvidia-smi` list a GPU?)";
      }
      return fmt::format(
          "; the driver is for CUDA {}, older than the toolkit's CUDA {}: update the "
          "driver or build with an older toolkit",
          version_text(driver_version()), version_text(CUDART_VERSION));
    case cudaErrorNoDevice:
      return "; no GPU is visible (does `nvidia-smi` list one? is CUDA_VISIBLE_DEVICES set?)";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction: {
      const ComputeCapability has = compute_capability();
      return fmt::format(
          "; built for {}, the device is {}{}: configure with "
          "-DCMAKE_CUDA_ARCHITECTURES={}{}",
          WORKSHOP_CUDA_ARCHITECTURES, has.major, has.minor, has.major, has.minor);
    }
    default:
      return "";
  }
}

/// Errors that only a running kernel makes: its own fault, not the device's.
bool is_kernel_fault(cudaError_t status) {
  constexpr std::array kFaults = {
      cudaErrorIllegalAddress,
      cudaErrorMisalignedAddress,
      cudaErrorInvalidAddressSpace,
      cudaErrorIllegalInstruction,
      cudaErrorInvalidPc,
      cudaErrorHardwareStackError,
      cudaErrorAssert,
      cudaErrorLaunchTimeout,
      cudaErrorLaunchFailure,
  };
  return std::find(kFaults.begin(), kFaults.end(), status) != kFaults.end();
}

bool is_no_device(cudaError_t status) {
  return status == cudaErrorNoDevice ||
         (status == cudaErrorInsufficientDriver && driver_version() == 0);
}

/// An event that is destroyed also when a launch throws.
class Event {
 public:
  Event() { cuda::check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(Stream stream) {
    cuda::check(cudaEventRecord(event_, stream), "cudaEventRecord", last_launch.file,
                last_launch.line);  // it also says what the last launch did wrong
  }
  float milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream that can be captured, which the default one cannot. The two wait for each other's work.
class OwnStream {
 public:
  OwnStream() { cuda::check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  operator Stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Launches that were recorded and not made. A replay makes them without the host in between.
class LaunchGraph {
 public:
  LaunchGraph(const std::function<void(Stream)>& launch, int launches, Stream stream) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < launches; ++i) launch(stream);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      cudaGraphDestroy(graph);
      cudaGetLastError();  // the error to report is the one that is on its way
      throw;
    }
    cuda::check(cudaStreamEndCapture(stream, &graph), "ending the capture");
    const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    cuda::check(status, "cudaGraphInstantiate");
  }
  ~LaunchGraph() { cudaGraphExecDestroy(graph_); }
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  void replay(Stream stream) {
    cuda::check(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch", last_launch.file,
                last_launch.line);
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Device time of all that `queue` queues, in milliseconds; waits for it.
double elapsed_ms(const std::function<void()>& queue, Stream stream) {
  Event start, stop;
  start.record(stream);
  queue();
  stop.record(stream);
  synchronize(stream);
  return double(stop.milliseconds_since(start));
}

}  // namespace

namespace cuda {

void check(cudaError_t status, const char* what, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here, so that no later call is blamed for it
  const std::string message =
      fmt::format("{}:{}: {}: {} ({}){}", file, line, what, cudaGetErrorString(status),
                  cudaGetErrorName(status), advice(status));
  if (is_kernel_fault(status)) throw KernelFault(message);
  if (is_no_device(status)) throw NoDevice(message);
  throw DeviceError(message);
}

void before_launch(const char* file, int line) {
  check(cudaPeekAtLastError(), "an error from before this launch was pending", file, line);
  last_launch = {file, line};
}

void after_launch(const char* file, int line) {
  check(cudaPeekAtLastError(), "this launch was refused", file, line);
}

}  // namespace cuda

DeviceKind device_kind() { return DeviceKind::gpu; }

DeviceInfo device_info() {
  int count = 0;
  cuda::check(cudaGetDeviceCount(&count), "looking for a GPU");
  int device = 0;
  cudaDeviceProp properties{};
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {DeviceKind::gpu, properties.name,
          fmt::format("compute capability {}.{}, {} multiprocessors, driver for CUDA {}, runtime "
                      "CUDA {}",
                      properties.major, properties.minor, properties.multiProcessorCount,
                      version_text(driver_version()), version_text(CUDART_VERSION))};
}

void require_compute_capability(int needed) {
  const ComputeCapability has = compute_capability();
  if (10 * has.major + has.minor >= needed) return;
  throw NoDevice(
      fmt::format("{} has compute capability {}.{} and this kernel needs {}.{} or higher: the "
                  "earlier stages run "
                  "on it",
                  device_info().name, has.major, has.minor, needed / 10, needed % 10));
}

void synchronize(Stream stream) {
  cuda::check(cudaStreamSynchronize(stream), "the kernel of the last launch failed",
              last_launch.file, last_launch.line);
}

double time_ms(const std::function<void(Stream)>& launch, int launches) {
  if (launches == 1) return elapsed_ms([&] { launch(nullptr); }, nullptr);

  constexpr int kInGraph = 20;  // long enough for the host to queue the next graph meanwhile
  const int replays = (launches + kInGraph - 1) / kInGraph;
  const OwnStream stream;
  LaunchGraph graph(launch, kInGraph, stream);
  graph.replay(stream);  // ahead of the clock
  const double total = elapsed_ms(
      [&] {
        for (int i = 0; i < replays; ++i) graph.replay(stream);
      },
      stream);
  return total / (replays * kInGraph);
}

std::vector<OperationCount> operation_counts() { return {}; }

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  void* allocation = nullptr;
  cuda::check(cudaMalloc(&allocation, bytes + 2 * kGuardBytes), "cudaMalloc");
  allocation_ = static_cast<std::byte*>(allocation);
  data_ = allocation_ + kGuardBytes;
  for (std::byte* guard : {allocation_, data_ + bytes}) {
    cuda::check(cudaMemcpy(guard, kGuard.data(), kGuardBytes, cudaMemcpyHostToDevice),
                "writing guard words");
  }
}

Buffer::~Buffer() { cudaFree(allocation_); }

void Buffer::fill(unsigned char byte) {
  cuda::check(cudaMemset(data_, byte, bytes_), "cudaMemset");
}

void Buffer::upload(const void* host) {
  cuda::check(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice), "copying to the device");
}

void Buffer::download(void* host) const {
  cuda::check(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost), "copying from the device");
}

bool Buffer::guards_intact() const {
  for (const std::byte* guard : {allocation_, data_ + bytes_}) {
    auto words = kGuard;
    cuda::check(cudaMemcpy(words.data(), guard, kGuardBytes, cudaMemcpyDeviceToHost),
                "reading guard words");
    if (words != kGuard) return false;
  }
  return true;
}

}  // namespace simt
