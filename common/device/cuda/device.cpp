// SPDX-License-Identifier: MIT
/// @file
/// device.hpp for a GPU.
#include "common/device/device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "common/device/cuda/cuda_check.hpp"

namespace simt {
namespace {

constexpr unsigned char kGuardByte = 0xA5;

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
      int device = 0, major = 0, minor = 0;
      cudaGetDevice(&device);
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
      return fmt::format(
          "; built for {}, the device is {}{}: configure with "
          "-DCMAKE_CUDA_ARCHITECTURES={}{}",
          WORKSHOP_CUDA_ARCHITECTURES, major, minor, major, minor);
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
  };
  return std::find(kFaults.begin(), kFaults.end(), status) != kFaults.end();
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

void synchronize(Stream stream) {
  cuda::check(cudaStreamSynchronize(stream), "the kernel of the last launch failed",
              last_launch.file, last_launch.line);
}

double time_ms(const std::function<void()>& launch, Stream stream) {
  cudaEvent_t start = nullptr, stop = nullptr;
  cuda::check(cudaEventCreate(&start), "cudaEventCreate");
  cuda::check(cudaEventCreate(&stop), "cudaEventCreate");
  cuda::check(cudaEventRecord(start, stream), "cudaEventRecord");
  launch();
  cuda::check(cudaEventRecord(stop, stream), "cudaEventRecord");
  synchronize(stream);
  float milliseconds = 0;
  cuda::check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
  cuda::check(cudaEventDestroy(start), "cudaEventDestroy");
  cuda::check(cudaEventDestroy(stop), "cudaEventDestroy");
  return double(milliseconds);
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  void* allocation = nullptr;
  cuda::check(cudaMalloc(&allocation, bytes + 2 * kGuardBytes), "cudaMalloc");
  allocation_ = static_cast<std::byte*>(allocation);
  data_ = allocation_ + kGuardBytes;
  cuda::check(cudaMemset(allocation_, kGuardByte, bytes + 2 * kGuardBytes), "cudaMemset");
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
  std::vector<unsigned char> bytes(bytes_ + 2 * kGuardBytes);
  cuda::check(cudaMemcpy(bytes.data(), allocation_, bytes.size(), cudaMemcpyDeviceToHost),
              "copying from the device");
  const auto untouched = [](unsigned char byte) { return byte == kGuardByte; };
  return std::all_of(bytes.begin(), bytes.begin() + kGuardBytes, untouched) &&
         std::all_of(bytes.end() - kGuardBytes, bytes.end(), untouched);
}

}  // namespace simt
