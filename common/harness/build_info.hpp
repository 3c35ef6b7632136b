// SPDX-License-Identifier: MIT
/// @file
/// How this program was built, for result files: a number without it cannot be compared.
#pragma once

#include <string_view>

namespace workshop {

/// What this program was built from and with, for result files.
struct BuildInfo {
  std::string_view version;   // of the project
  std::string_view commit;    // "-dirty" at its end if tracked files differ; "unknown" outside git
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view flags;     // those that can change a result or its time
  std::string_view build_type;  // "RelWithDebInfo"
  std::string_view cuda;        // nvcc and architectures, empty if this build has no CUDA
  std::string_view cmake;
};

const BuildInfo& build_info();

}  // namespace workshop
