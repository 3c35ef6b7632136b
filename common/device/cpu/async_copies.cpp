// SPDX-License-Identifier: MIT
/// @file
/// Starting, grouping and completing asynchronous copies.
#include "common/device/cpu/async_copies.hpp"

#include <cstring>

#include "common/device/cpu/block_runner.hpp"

namespace simt::cpu {
namespace {

constexpr std::size_t kCopyBytes = 16;

void perform(const AsyncCopies::Copy& copy) {
  if (copy.from) {
    std::memcpy(copy.to, copy.from, kCopyBytes);
  } else {
    std::memset(copy.to, 0, kCopyBytes);
  }
}

}  // namespace

void AsyncCopies::start(const Copy& copy, bool late) {
  if (!late) perform(copy);
  started_.push_back({copy, !late});
}

void AsyncCopies::commit() { group_ends_.push_back(started_.size()); }

void AsyncCopies::wait(int pending) {
  if (group_ends_.size() <= std::size_t(pending)) return;
  const auto newest = group_ends_.end() - pending;
  const std::size_t waited_for = newest[-1];
  for (std::size_t i = 0; i < waited_for; ++i) {
    if (!started_[i].done) perform(started_[i].copy);
  }
  started_.erase(started_.begin(), started_.begin() + std::ptrdiff_t(waited_for));
  group_ends_.erase(group_ends_.begin(), newest);
  for (std::size_t& end : group_ends_) end -= waited_for;
}

void AsyncCopies::clear() {
  started_.clear();
  group_ends_.clear();
}

void start_async_copy(void* shared, const void* global, bool valid, Site site) {
  require_shared_vector(shared, "simt::cp_async16", site);
  require_aligned(global, kCopyBytes, site);
  BlockRunner& runner = *BlockRunner::current();
  runner.async_copies().start({static_cast<std::byte*>(shared),
                               valid ? static_cast<const std::byte*>(global) : nullptr, site},
                              runner.schedule() == Schedule::forward);
  count(&Counts::async_copies, 1);
}

void commit_async_copies() { BlockRunner::current()->async_copies().commit(); }

void wait_for_async_copies(int pending) { BlockRunner::current()->async_copies().wait(pending); }

}  // namespace simt::cpu
