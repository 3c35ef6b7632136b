// SPDX-License-Identifier: MIT
/// @file
/// The whole program but for printing: what is asked for, as the text that answers it.
#pragma once

#include <string>
#include <vector>

namespace workshop {

/// @param arguments  without the program's name
/// @returns the text for stdout; nothing if the help was asked for, which is printed already
/// @throws Refusal for a request that is not carried out
std::string trace_text(const std::vector<std::string>& arguments);

}  // namespace workshop
