// SPDX-License-Identifier: MIT
/// @file
/// What stands between <<< and >>>, and the line where it stands.
///
/// Included by both sides of simt.hpp, after dim3.
#pragma once

#include <cstddef>

#include "common/device/device.hpp"

namespace simt {

/// What stands between <<< and >>> of a launch, and where in the source the launch is.
struct LaunchConfig {
  LaunchConfig(dim3 grid_, dim3 block_, std::size_t shared_bytes_, Stream stream_,
               const char* file_ = __builtin_FILE(), int line_ = __builtin_LINE())
      : grid(grid_),
        block(block_),
        shared_bytes(shared_bytes_),
        stream(stream_),
        file(file_),
        line(line_) {}

  dim3 grid;                 // blocks
  dim3 block;                // threads of a block
  std::size_t shared_bytes;  // dynamic shared memory of a block
  Stream stream;
  const char* file;  // of the launch, for reports
  int line;
};

}  // namespace simt
