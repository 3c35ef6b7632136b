// SPDX-License-Identifier: MIT
/// @file
/// For the tests of the CPU device: launch a kernel, get the report.
#pragma once

#include <string>
#include <utility>

#include "common/device/cpu/cpu_device.hpp"
#include "common/device/simt.hpp"

/// The report of the kernel's fault, empty if it has none.
template <typename... Parameters, typename... Arguments>
std::string report_of(const simt::LaunchConfig& config, void (*kernel)(Parameters...),
                      Arguments&&... arguments) {
  try {
    simt::launch(config, kernel, std::forward<Arguments>(arguments)...);
    return "";
  } catch (const simt::KernelFault& fault) {
    return fault.what();
  }
}

/// Sets the schedule for the length of a test.
class WithSchedule {
 public:
  explicit WithSchedule(simt::cpu::Schedule schedule) : saved_(simt::cpu::settings()) {
    simt::cpu::settings().schedule = schedule;
  }
  ~WithSchedule() { simt::cpu::settings() = saved_; }
  WithSchedule(const WithSchedule&) = delete;
  WithSchedule& operator=(const WithSchedule&) = delete;

 private:
  simt::cpu::Settings saved_;
};
