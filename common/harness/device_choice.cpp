// SPDX-License-Identifier: MIT
#include "common/harness/device_choice.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/harness/build_info.hpp"
#include "common/harness/process.hpp"

namespace workshop {

void declare_device_option(CommandLine& line) {
  line.add_option("--device", "where to run (auto)", "auto, cpu, gpu");
}

DeviceChoice device_choice(const CommandLine& line) {
  const std::string device = line.choice("--device", {"auto", "cpu", "gpu"}).value_or("auto");
  if (device == "auto") return DeviceChoice::automatic;
  return device == "cpu" ? DeviceChoice::cpu : DeviceChoice::gpu;
}

std::optional<int> gpu_capability() {
  std::optional<int> capability;
  if (build_info().cuda.empty()) return capability;
  // The programs take the first GPU that they see: it must be the first of nvidia-smi's order, too.
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  std::vector<std::string> words = {"nvidia-smi", "--query-gpu=compute_cap",
                                    "--format=csv,noheader"};
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    const std::string_view all = visible;
    words.insert(words.end(), {"-i", std::string(all.substr(0, all.find(',')))});
  }
  run_process(words, {.on_line = [&](const std::string& line) {
                int major = 0, minor = 0;
                if (!capability && std::sscanf(line.c_str(), "%d.%d", &major, &minor) == 2) {
                  capability = 10 * major + minor;
                }
              }});
  return capability;
}

void fail_without_gpu() {
  throw std::runtime_error("--device 'gpu': no GPU program can run here, since " +
                           std::string(!build_info().cuda.empty()
                                           ? "`nvidia-smi` lists no GPU"
                                           : "this build is without CUDA: it needs "
                                             "nvcc and a GPU"));
}

}  // namespace workshop
