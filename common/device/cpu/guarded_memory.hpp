// SPDX-License-Identifier: MIT
/// @file
/// Memory of a block with forbidden pages around it: the stacks of its threads, its shared memory.
#pragma once

#include <cstddef>
#include <optional>

#include "common/device/cpu/fiber.hpp"

namespace simt::cpu {

/// Fresh zeroed pages, unmapped at the end.
class Pages {
 public:
  /// @throws DeviceError if there is no memory
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// From now on any access to this part is a SIGSEGV.
  void forbid(std::size_t offset, std::size_t bytes);

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  bool contains(const void* address) const;

  static std::size_t round_up(std::size_t bytes);  // to whole pages

 private:
  std::byte* begin_;
  std::size_t bytes_;
};

/// A stack for each thread of a block, a guard below each.
class Stacks {
 public:
  Stacks(int count, std::size_t bytes);

  StackMemory operator[](int index) const;
  bool contains(const void* address) const { return pages_.contains(address); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  Pages pages_;
};

/// The dynamic shared memory of a block:
///
///     guard page | canary | shared memory, 128-byte aligned | canary (under 128 bytes) | guard page
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);

  /// Sets every byte to 0xff, as before each block: what a block reads unwritten is then NaN in each
  /// of our types, and never what the block before it left.
  void poison();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Whether all of these bytes are in the memory.
  bool holds(const void* address, std::size_t bytes) const {
    const auto* first = static_cast<const std::byte*>(address);
    return first >= data_ && first <= data_ + bytes_ &&
           bytes <= std::size_t(data_ + bytes_ - first);
  }

  /// Whether the address is in the memory or its guards.
  bool contains(const void* address) const { return pages_.contains(address); }

  /// The offset from `data()` of a canary byte that was overwritten.
  std::optional<std::ptrdiff_t> damage() const;

 private:
  std::size_t bytes_;
  Pages pages_;
  std::byte* data_;
};

}  // namespace simt::cpu
