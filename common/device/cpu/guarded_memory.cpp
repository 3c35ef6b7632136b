// SPDX-License-Identifier: MIT
/// @file
/// Mapping and guarding of a block's memory.
#include "common/device/cpu/guarded_memory.hpp"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "common/device/cpu/sanitizer_stack.hpp"
#include "common/device/device.hpp"

namespace simt::cpu {
namespace {

constexpr std::size_t kSharedAlignment = 128;
constexpr std::byte kCanary{0xcb};
// Wider than a page: a large frame may skip what lies right below the stack.
constexpr std::size_t kStackGuardBytes = 64 * 1024;

// Stacks that all began at the same offset in a page would share a few sets of the cache: a switch
// took twice as long.
constexpr std::size_t kStackShiftBytes = 9 * 64;

std::size_t page_bytes() {
  static const auto bytes = std::size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up_to(std::size_t multiple, std::size_t bytes) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw DeviceError(fmt::format("CPU device: the system gives no {} bytes of memory", bytes));
  }
  begin_ = static_cast<std::byte*>(pages);
}

Pages::~Pages() {
#if WORKSHOP_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(begin_, bytes_);  // whoever gets these addresses next may use them
#endif
  munmap(begin_, bytes_);
}

void Pages::forbid(std::size_t offset, std::size_t bytes) {
  if (mprotect(begin_ + offset, bytes, PROT_NONE) != 0) {
    throw DeviceError("CPU device: the system has no room for another guard page");
  }
}

bool Pages::contains(const void* address) const {
  return address >= begin_ && address < begin_ + bytes_;
}

std::size_t Pages::round_up(std::size_t bytes) { return round_up_to(page_bytes(), bytes); }

Stacks::Stacks(int count, std::size_t bytes)
    : bytes_(Pages::round_up(bytes)), pages_(std::size_t(count) * (bytes_ + kStackGuardBytes)) {
  for (int i = 0; i < count; ++i) {
    pages_.forbid(std::size_t(i) * (bytes_ + kStackGuardBytes), kStackGuardBytes);
  }
}

StackMemory Stacks::operator[](int index) const {
  const std::size_t guard = std::size_t(index) * (bytes_ + kStackGuardBytes);
  const std::size_t shift = std::size_t(index) * kStackShiftBytes % page_bytes();
  return {pages_.begin() + guard + kStackGuardBytes, bytes_ - shift};
}

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(bytes), pages_(Pages::round_up(bytes) + 2 * page_bytes()) {
  const std::size_t back_guard = pages_.bytes() - page_bytes();
  pages_.forbid(0, page_bytes());
  pages_.forbid(back_guard, page_bytes());
  // As close to the guard behind it as the alignment lets it be.
  data_ = pages_.begin() + back_guard - round_up_to(kSharedAlignment, bytes);
  std::memset(pages_.begin() + page_bytes(), int(kCanary), back_guard - page_bytes());
#if WORKSHOP_ADDRESS_SANITIZER
  __asan_poison_memory_region(pages_.begin(), pages_.bytes());  // it names the line of an overrun
  __asan_unpoison_memory_region(data_, bytes_);
#endif
}

void SharedMemory::poison() { std::memset(data_, 0xff, bytes_); }

std::optional<std::ptrdiff_t> SharedMemory::damage() const {
  if (kAddressSanitizer) return {};  // it stopped at the write, and lets nobody read the canary
  const std::byte* first = pages_.begin() + page_bytes();
  const std::byte* last = pages_.begin() + pages_.bytes() - page_bytes();
  for (const std::byte* byte = first; byte != last; ++byte) {
    if (byte == data_) byte += bytes_;
    if (byte == last) break;
    if (*byte != kCanary) return byte - data_;
  }
  return {};
}

}  // namespace simt::cpu
