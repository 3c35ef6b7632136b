// SPDX-License-Identifier: MIT
/// @file
/// The Fiber of fiber.hpp by POSIX's <ucontext.h>: needs no library, but a switch is a system call.
#pragma once

#include <ucontext.h>

#include "common/device/cpu/fiber.hpp"

namespace simt::cpu {

class Fiber {
 public:
  Fiber() = default;
  Fiber(StackMemory stack, FiberEntry entry, void* argument)
      : entry_(entry), argument_(argument), sanitizer_stack_(stack.bottom, stack.bytes) {
    getcontext(&goes_on_);
    goes_on_.uc_stack.ss_sp = stack.bottom;
    goes_on_.uc_stack.ss_size = stack.bytes;
    makecontext(&goes_on_, &Fiber::start, 0);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void switch_to(Fiber& next) {
    departing_ = this;
    arriving_ = &next;
    sanitizer_stack_.leave_for(next.sanitizer_stack_);
    swapcontext(&goes_on_, &next.goes_on_);
    sanitizer_stack_.arrive_from(departing_->sanitizer_stack_);
  }

  void abandon() {}  // nothing would unwind it

  static const char* implementation() { return "ucontext"; }

 private:
  /// Without arguments: makecontext could pass ints, but no pointer.
  static void start() {
    Fiber& self = *arriving_;
    self.sanitizer_stack_.arrive_from(departing_->sanitizer_stack_);
    Fiber& next = self.entry_(self.argument_);
    departing_ = &self;
    arriving_ = &next;
    self.sanitizer_stack_.end_and_leave_for(next.sanitizer_stack_);
    setcontext(&next.goes_on_);
  }

  static inline constinit thread_local Fiber* departing_ = nullptr;  // the last to switch away
  static inline constinit thread_local Fiber* arriving_ = nullptr;   // and where it switched to

  ucontext_t goes_on_ = {};  // while it is suspended
  FiberEntry entry_ = nullptr;
  void* argument_ = nullptr;
  SanitizerStack sanitizer_stack_;
};

}  // namespace simt::cpu
