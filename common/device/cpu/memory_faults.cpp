// SPDX-License-Identifier: MIT
/// @file
/// The signal handler of the CPU device.
#include "common/device/cpu/memory_faults.hpp"

#include "common/device/cpu/block_runner.hpp"
#include "common/device/cpu/sanitizer_stack.hpp"

namespace simt::cpu {
namespace {

constexpr std::size_t kSignalStackBytes = 64 * 1024;

struct sigaction previous_action;

/// The system gives an address only with these two codes: page not mapped, page forbidden.
bool address_is_known(const siginfo_t& info) {
  return info.si_code == SEGV_MAPERR || info.si_code == SEGV_ACCERR;
}

void on_memory_fault(int signal, siginfo_t* info, void*) {
  BlockRunner* runner = BlockRunner::current();
  if (runner && runner->running()) {
    runner->abandon_running_thread({info->si_addr, address_is_known(*info)});
  }
  sigaction(signal, &previous_action, nullptr);  // not ours: it happens again, and goes there
}

}  // namespace

MemoryFaultHandler::MemoryFaultHandler() {
  if (kAddressSanitizer) return;
  struct sigaction action = {};
  action.sa_sigaction = on_memory_fault;
  // NODEFER: the handler is left by a switch and never returns, so nothing would unblock the signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_action);
}

MemoryFaultHandler::~MemoryFaultHandler() {
  if (!kAddressSanitizer) sigaction(SIGSEGV, &previous_action, nullptr);
}

SignalStack::SignalStack() {
  if (kAddressSanitizer) return;
  memory_ = std::make_unique<char[]>(kSignalStackBytes);
  stack_t stack = {};
  stack.ss_sp = memory_.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, &previous_);
}

SignalStack::~SignalStack() {
  if (!kAddressSanitizer) sigaltstack(&previous_, nullptr);
}

}  // namespace simt::cpu
