// SPDX-License-Identifier: MIT
#include "common/harness/exit_status.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <unistd.h>

#include "common/attention/problem.hpp"
#include "common/device/device.hpp"

namespace workshop {

namespace {

/// On one line, whatever a reader's file name or option holds.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

}  // namespace

int as_exit_status(int status) {
  const bool known = (kAllRight <= status && status <= kFailed) || status == kInterrupted;
  return known ? status : int(kFailed);
}

void say(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

int run_program(const std::function<int()>& body) {
  std::signal(SIGINT, [](int) { _exit(kInterrupted); });
  try {
    const int status = body();
    if (std::fflush(stdout) != 0) throw std::runtime_error("the output cannot be written");
    return status;
  } catch (const Refusal& refusal) {
    say("refused: " + on_one_line(refusal.what()));
    return kRefused;
  } catch (const simt::KernelFault& fault) {
    say(std::string("kernel fault: ") + fault.what());
    return kWrongResult;
  } catch (const std::exception& error) {
    say(std::string("failed: ") + error.what());
    return kFailed;
  }
}

}  // namespace workshop
