// SPDX-License-Identifier: MIT
#include "common/attention/whole_file.hpp"

#include <fstream>
#include <string>

#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {

TEST_CASE("a file is written whole or not at all") {
  const TemporaryFolder folder;
  const std::string file = folder.file("table.json");
  write_whole_file(file, "first");
  write_whole_file(file, "second");
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text);
  CHECK(text == "second");
  CHECK_THROWS_AS(write_whole_file(folder.file("none/table.json"), "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file(folder.path, "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file("/dev/null", "text"), Refusal);
  CHECK_THROWS_AS(write_whole_file("", "text"), Refusal);
  CHECK(folder.count() == 1);
}

}  // namespace workshop
