// SPDX-License-Identifier: MIT
/// @file
/// One problem on the device: what every program, test and benchmark does around a launch.
#pragma once

#include <cstdint>

#include "common/attention/inputs.hpp"
#include "common/attention/problem.hpp"
#include "common/device/device.hpp"

namespace workshop {

/// What every stage offers: launches and does not wait.
using AttentionFunction = void (*)(const AttentionProblem& problem, simt::Stream stream);

/// Q, K and V in guarded buffers on the device, and an O that is poisoned before each launch.
class DeviceCase {
 public:
  DeviceCase(const Inputs& inputs, Mask mask, int block_n = 32);

  /// Fills o with NaN, launches once, waits, and looks at the guard words of all four tensors.
  /// @returns o as stored, [N][D]; an element that was not written is NaN
  /// @throws simt::KernelFault if a guard word was overwritten, or as the launch and the device do
  Matrix<std::uint16_t> run(AttentionFunction attention);

  /// Device time of one launch in milliseconds.
  double time_ms(AttentionFunction attention);

  const AttentionProblem& problem() const { return problem_; }

 private:
  simt::Buffer q_;
  simt::Buffer k_;
  simt::Buffer v_;
  simt::Buffer o_;
  AttentionProblem problem_;
};

}  // namespace workshop
