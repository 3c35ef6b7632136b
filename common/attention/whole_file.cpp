// SPDX-License-Identifier: MIT
#include "common/attention/whole_file.hpp"

#include <fstream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "common/attention/problem.hpp"

namespace workshop {

namespace fs = std::filesystem;

void require_writable(std::string_view subject, const fs::path& file) {
  const auto refuse = [&](const char* why) {
    throw Refusal(fmt::format("{} '{}': {}; allowed: a file in a folder that can be written to",
                              subject, file.string(), why));
  };
  if (file.empty()) refuse("the name is empty");
  std::error_code error;
  if (fs::is_directory(file, error)) refuse("that is a folder");
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) refuse("that is no plain file");
  const fs::path folder = fs::absolute(file, error).parent_path();
  if (!fs::is_directory(folder, error)) refuse("its folder does not exist");
  if (access(folder.c_str(), W_OK) != 0) refuse("its folder cannot be written to");
  if (fs::exists(file, error) && access(file.c_str(), W_OK) != 0) refuse("it cannot be written to");
}

void write_whole_file(const fs::path& file, std::string_view bytes) {
  require_writable("file", file);
  const fs::path target = fs::weakly_canonical(fs::absolute(file));  // what a link leads to
  fs::path partial = target;
  partial += fmt::format(".{}.partial", getpid());
  std::ofstream stream(partial, std::ios::binary);
  stream.write(bytes.data(), std::streamsize(bytes.size()));
  stream.close();
  std::error_code error;
  if (stream) fs::rename(partial, target, error);
  if (!stream || error) {
    fs::remove(partial, error);
    throw std::runtime_error(fmt::format("file '{}' could not be written whole", file.string()));
  }
}

}  // namespace workshop
