// SPDX-License-Identifier: MIT
/// @file
/// Turns a SIGSEGV inside a kernel (guard page, stack overflow, wild pointer, misaligned vector)
/// into a report. Not under AddressSanitizer, which stops there itself and knows the line.
#pragma once

#include <csignal>
#include <memory>

namespace simt::cpu {

/// Catches SIGSEGV of this process's kernels for as long as it lives; all others go where they went.
class MemoryFaultHandler {
 public:
  MemoryFaultHandler();
  ~MemoryFaultHandler();
  MemoryFaultHandler(const MemoryFaultHandler&) = delete;
  MemoryFaultHandler& operator=(const MemoryFaultHandler&) = delete;
};

/// A stack for signal handlers of this OS thread: one that overflows has no room left on its own.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
  stack_t previous_ = {};
};

}  // namespace simt::cpu
