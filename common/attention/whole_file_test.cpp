// SPDX-License-Identifier: MIT
#include "common/attention/whole_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"

namespace workshop {

TEST_CASE("a file is written whole or not at all") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("workshop_whole_file_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto file = folder / "table.json";
  write_whole_file(file, "first");
  write_whole_file(file, "second");
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text);
  CHECK(text == "second");
  CHECK_THROWS_AS(write_whole_file(folder / "none" / "table.json", "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file(folder, "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file("/dev/null", "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file("", "text"), Refusal);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

}  // namespace workshop
