// SPDX-License-Identifier: MIT
/// @file
/// cp.async: copies of 16 bytes from global to shared memory that are done some time before a wait.
#pragma once

#include <cstddef>
#include <vector>

#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {

/// The copies that one thread has started and not waited for.
class AsyncCopies {
 public:
  struct Copy {
    std::byte* to;
    const std::byte* from;  // null: zeros
    Site site;
  };

  /// `late`: done by the wait that needs it, as late as CUDA allows. Otherwise done here and now.
  void start(const Copy& copy, bool late);

  /// Closes the group of the copies since the last commit; it may be empty.
  void commit();

  /// All groups but the newest `pending` are done; copies of no group are not waited for.
  void wait(int pending);

  /// Of a new block: what the last one left is forgotten.
  void clear();

  const Copy* oldest() const { return started_.empty() ? nullptr : &started_.front().copy; }

 private:
  struct Started {
    Copy copy;
    bool done;
  };

  std::vector<Started> started_;
  std::vector<std::size_t>
      group_ends_;  // of each committed group: how many copies lie before its end
};

/// simt::cp_async16.
/// @throws KernelFault if an address is misaligned, or `shared` not in the block's shared memory
void start_async_copy(void* shared, const void* global, bool valid, Site site);

/// simt::cp_async_commit.
void commit_async_copies();

/// simt::cp_async_wait.
void wait_for_async_copies(int pending);

}  // namespace simt::cpu
