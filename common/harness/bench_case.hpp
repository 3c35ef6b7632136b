// SPDX-License-Identifier: MIT
/// @file
/// One row of a benchmark on the device: judged first, then timed on the very same buffers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/device/device.hpp"
#include "common/harness/bench_grid.hpp"
#include "common/harness/device_case.hpp"

namespace workshop {

/// Names the inputs of every benchmark in result files.
inline constexpr const char* kBenchInput = "normal, seed 1";

/// Begins the name of a counter that is what the device counted in one launch.
inline constexpr std::string_view kCountPrefix = "per launch: ";

/// One point of the grid on the device, judged before it is timed.
class BenchCase {
 public:
  /// Generates the inputs, launches once, and judges o by the oracle and the bound.
  /// @throws simt::KernelFault if o is wrong, or as DeviceCase
  BenchCase(const BenchPoint& point, AttentionFunction attention);

  /// The largest error of an element, as a share of its bound: at most 1.
  double error_share() const { return error_share_; }

  /// What the device counted in one launch; nothing on a GPU.
  const std::vector<simt::OperationCount>& counts() const { return counts_; }

  /// The device time of one launch in milliseconds, as the mean of `launches` or more in a row. Q, K and V
  /// stay where they are, so that the L2 cache is warm.
  /// @throws simt::KernelFault unless the last of them gave the bits that were judged
  double time_ms(int launches);

 private:
  BenchCase(const BenchPoint& point, const Inputs& inputs, AttentionFunction attention);

  AttentionFunction attention_;
  DeviceCase device_case_;
  Matrix<std::uint16_t> judged_;  // [N][D]
  std::vector<simt::OperationCount> counts_;
  double error_share_ = 0;
};

}  // namespace workshop
