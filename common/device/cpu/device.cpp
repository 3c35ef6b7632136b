// SPDX-License-Identifier: MIT
/// @file
/// The CPU side of common/device/device.hpp.
#include "common/device/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "common/device/cpu/counts.hpp"
#include "common/device/cpu/cpu_device.hpp"
#include "common/device/cpu/fiber.hpp"
#include "common/device/guard.hpp"

namespace simt {
namespace {

constexpr std::align_val_t kAlignment{64};

bool is_guard(const std::byte* begin) {
  return std::memcmp(begin, kGuard.data(), kGuardBytes) == 0;
}

/// "Intel(R) Xeon(R) Processor", as Linux calls it.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

DeviceKind device_kind() { return DeviceKind::cpu; }

DeviceInfo device_info() {
  const cpu::Settings& settings = cpu::settings();
  const int workers =
      settings.workers > 0 ? settings.workers : int(std::thread::hardware_concurrency());
  return {DeviceKind::cpu, "CPU device",
          fmt::format("{}; fibers: {}; workers: {}; schedule: {}", cpu_model(),
                      cpu::Fiber::implementation(), std::max(workers, 1),
                      settings.schedule == cpu::Schedule::forward ? "forward" : "reverse")};
}

void require_compute_capability(int) {}  // it has the instructions of all of them

void synchronize(Stream) {}  // a launch returns when its last block is done

double time_ms(const std::function<void(Stream)>& launch, int launches) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) launch(nullptr);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / launches;
}

std::vector<OperationCount> operation_counts() {
  const cpu::Counts counts = cpu::counts();
  std::vector<OperationCount> named;
  for (const auto& [name, member] : cpu::kCounts) named.push_back({name, counts.*member});
  return named;
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  const std::size_t with_guards = bytes + 2 * kGuardBytes;
  if (with_guards > bytes) {
    allocation_ = static_cast<std::byte*>(::operator new(with_guards, kAlignment, std::nothrow));
  }
  if (!allocation_) throw DeviceError(fmt::format("CPU device: no memory for {} bytes", bytes));
  data_ = allocation_ + kGuardBytes;
  std::memcpy(allocation_, kGuard.data(), kGuardBytes);
  std::memcpy(data_ + bytes_, kGuard.data(), kGuardBytes);
}

Buffer::~Buffer() { ::operator delete(allocation_, kAlignment); }

void Buffer::fill(unsigned char byte) { std::memset(data_, byte, bytes_); }

void Buffer::upload(const void* host) {
  if (bytes_ > 0) std::memcpy(data_, host, bytes_);
}

void Buffer::download(void* host) const {
  if (bytes_ > 0) std::memcpy(host, data_, bytes_);
}

bool Buffer::guards_intact() const { return is_guard(allocation_) && is_guard(data_ + bytes_); }

}  // namespace simt
