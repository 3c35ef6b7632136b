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

  /// What a launch left behind.
  struct Outcome {
    Matrix<std::uint16_t> o;  // [N][D] as stored; an element that was not written is NaN
    double time_ms;           // device time of the launch
  };

  /// Fills o with NaN, launches, waits, and looks at the guard words and at q, k and v.
  /// @param launches  at least so many in a row; time_ms is their mean, and o what the last one left
  /// @throws simt::KernelFault if one of them has changed, or as the launch and the device do
  Outcome timed_run(AttentionFunction attention, int launches = 1);
  Matrix<std::uint16_t> run(AttentionFunction attention) { return timed_run(attention).o; }

  const AttentionProblem& problem() const { return problem_; }

 private:
  void require_untouched() const;

  Inputs inputs_;
  simt::Buffer q_;
  simt::Buffer k_;
  simt::Buffer v_;
  simt::Buffer o_;
  AttentionProblem problem_;
};

}  // namespace workshop
