// SPDX-License-Identifier: MIT
#include "common/harness/exit_status.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <unistd.h>

#include <fmt/format.h>

#include "common/attention/problem.hpp"
#include "common/device/device.hpp"

namespace workshop {

int run_program(const std::function<int()>& body) {
  std::signal(SIGINT, [](int) { _exit(kInterrupted); });
  try {
    return body();
  } catch (const Refusal& refusal) {
    fmt::print(stderr, "refused: {}\n", refusal.what());
    return kRefused;
  } catch (const simt::KernelFault& fault) {
    fmt::print(stderr, "kernel fault: {}\n", fault.what());
    return kWrongResult;
  } catch (const std::exception& error) {
    fmt::print(stderr, "failed: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace workshop
