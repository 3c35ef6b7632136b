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

/// Restores the settings at the end of a test.
class KeptSettings {
 public:
  KeptSettings() = default;
  explicit KeptSettings(simt::cpu::Schedule schedule) { simt::cpu::settings().schedule = schedule; }
  ~KeptSettings() { simt::cpu::settings() = saved_; }
  KeptSettings(const KeptSettings&) = delete;
  KeptSettings& operator=(const KeptSettings&) = delete;

 private:
  const simt::cpu::Settings saved_ = simt::cpu::settings();
};
