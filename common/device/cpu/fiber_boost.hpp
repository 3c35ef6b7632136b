// SPDX-License-Identifier: MIT
/// @file
/// The Fiber of fiber.hpp by Boost.Context: a switch is a few loads and stores.
#pragma once

#include <memory>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/version.hpp>

#include "common/device/cpu/fiber.hpp"

namespace simt::cpu {

class Fiber {
 public:
  Fiber() = default;
  Fiber(StackMemory stack, FiberEntry entry, void* argument)
      : sanitizer_stack_(stack.bottom, stack.bytes) {
    boost::context::stack_context bounds;
    bounds.size = stack.bytes;
    bounds.sp = stack.bottom + stack.bytes;  // stacks grow downwards
    goes_on_ = boost::context::fiber(
        std::allocator_arg, boost::context::preallocated(bounds.sp, bounds.size, bounds),
        ForeignStack{}, [this, entry, argument](boost::context::fiber&& previous) {
          arrive(std::move(previous));
          Fiber& next = entry(argument);
          departing_ = this;
          sanitizer_stack_.end_and_leave_for(next.sanitizer_stack_);
          return std::move(next.goes_on_);
        });
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void switch_to(Fiber& next) {
    departing_ = this;
    sanitizer_stack_.leave_for(next.sanitizer_stack_);
    arrive(std::move(next.goes_on_).resume());
  }

  void abandon() {
    // Leaked on purpose: the destructor of a suspended handle would unwind the stack.
    new boost::context::fiber(std::move(goes_on_));
  }

  static const char* implementation() { return "Boost.Context " BOOST_LIB_VERSION; }

 private:
  /// The memory of our stacks belongs to whoever made the fiber.
  struct ForeignStack {
    boost::context::stack_context allocate() { return {}; }
    void deallocate(boost::context::stack_context&) noexcept {}
  };

  /// Here again, or for the first time: `previous` is where the fiber that switched to us goes on.
  void arrive(boost::context::fiber&& previous) {
    departing_->goes_on_ = std::move(previous);
    sanitizer_stack_.arrive_from(departing_->sanitizer_stack_);
  }

  static inline constinit thread_local Fiber* departing_ = nullptr;  // the last to switch away

  boost::context::fiber goes_on_;  // while it is suspended
  SanitizerStack sanitizer_stack_;
};

}  // namespace simt::cpu
