// SPDX-License-Identifier: MIT
/// @file
/// Files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace workshop {

/// @throws Refusal saying why, unless a regular file could be written there: its folder is missing or
///         closed, or what is there is a folder or a device. `subject` begins the sentence.
void require_writable(std::string_view subject, const std::filesystem::path& file);

/// Writes a temporary file beside it, then renames it: a reader sees the old file or the new one.
/// @throws Refusal as require_writable; std::runtime_error if writing fails, and leaves nothing behind
void write_whole_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace workshop
