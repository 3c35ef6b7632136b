// SPDX-License-Identifier: MIT
/// @file
/// Fibers: stacks that an OS thread runs in turn, switching where they say so. One class, written
/// twice; CMake says which one (WORKSHOP_FIBERS).
///
///     Fiber()                                 stands for the calling OS thread
///     Fiber(StackMemory, Entry, void*)        starts at the first switch to it
///     running.switch_to(next)                 `next` goes on; `running` when something switches to it
///     suspended.abandon()                     forgets it without unwinding: a signal left it for good
///     Fiber::implementation()                 its name, for reports
///
/// A fiber must have ended, or been abandoned, when it is destroyed. All is inline: a switch costs a
/// mispredicted return for each function that it is nested in.
#pragma once

#include <cstddef>

#include "common/device/cpu/sanitizer_stack.hpp"

namespace simt::cpu {

class Fiber;

struct StackMemory {
  std::byte* bottom;  // lowest address
  std::size_t bytes;
};

/// What a fiber runs. Returns the fiber that goes on when it has ended.
using FiberEntry = Fiber& (*)(void* argument);

}  // namespace simt::cpu

#if WORKSHOP_BOOST_FIBERS
#include "common/device/cpu/fiber_boost.hpp"
#else
#include "common/device/cpu/fiber_ucontext.hpp"
#endif
