// SPDX-License-Identifier: MIT
/// @file
/// Tells AddressSanitizer which stack the program is on. Without this an exception on a fiber brings
/// false reports. Empty in a build without it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define WORKSHOP_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WORKSHOP_ADDRESS_SANITIZER 1
#endif
#endif
#if !defined(WORKSHOP_ADDRESS_SANITIZER)
#define WORKSHOP_ADDRESS_SANITIZER 0
#endif

#if WORKSHOP_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt::cpu {

inline constexpr bool kAddressSanitizer = WORKSHOP_ADDRESS_SANITIZER;

/// The stack of one fiber as AddressSanitizer knows it.
class SanitizerStack {
 public:
#if WORKSHOP_ADDRESS_SANITIZER
  SanitizerStack() = default;  // an OS thread's: learnt at the first switch away from it
  SanitizerStack(const void* bottom, std::size_t bytes) : bottom_(bottom), bytes_(bytes) {}

  void leave_for(const SanitizerStack& next) {
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.bytes_);
  }
  void end_and_leave_for(const SanitizerStack& next) {
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.bytes_);
  }
  void arrive_from(SanitizerStack& previous) {
    __sanitizer_finish_switch_fiber(fake_stack_, &previous.bottom_, &previous.bytes_);
  }

 private:
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
#else
  SanitizerStack() = default;
  SanitizerStack(const void*, std::size_t) {}
  void leave_for(const SanitizerStack&) {}
  void end_and_leave_for(const SanitizerStack&) {}
  void arrive_from(SanitizerStack&) {}
#endif
};

}  // namespace simt::cpu
