// SPDX-License-Identifier: MIT
#include "common/harness/build.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/harness/exit_status.hpp"
#include "common/harness/process.hpp"

namespace workshop {

namespace fs = std::filesystem;

fs::path program_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path build_folder() {
  const fs::path folder = program_folder().parent_path();
  if (!fs::exists(folder / "CMakeCache.txt")) {
    throw BuildFailure(fmt::format(
        "{} is not a build folder of the workshop, so nothing can be built: call ./workshop",
        folder.string()));
  }
  return folder;
}

void build_targets(std::vector<std::string> targets) {
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  say(fmt::format("[3/3] building {}", fmt::join(targets, ", ")));

  std::vector<std::string> command = {"cmake", "--build", build_folder().string(), "--target"};
  command.insert(command.end(), targets.begin(), targets.end());
  const int status = run_process(command, {.standard_output = StandardOutput::to_stderr});
  if (status != 0) {
    throw BuildFailure(fmt::format("building {} ended with status {}: the lines above say why",
                                   fmt::join(targets, ", "), status));
  }
}

}  // namespace workshop
