// SPDX-License-Identifier: MIT
/// @file
/// Replays the online softmax of one query; `./workshop trace --help` lists the options.
#include "trace.hpp"

#include <fmt/format.h>

#include "common/harness/exit_status.hpp"

int main(int argc, char** argv) {
  return workshop::run_program([&] {
    fmt::print("{}", workshop::trace_text({argv + 1, argv + argc}));
    return workshop::kAllRight;
  });
}
