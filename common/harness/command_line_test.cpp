// SPDX-License-Identifier: MIT
#include "common/harness/command_line.hpp"

#include <string>
#include <vector>

#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

namespace workshop {
namespace {

/// A command line with one of each kind.
struct Line {
  CommandLine line{"program", "for tests"};
  Line() {
    line.add_option("--n", "length", "a whole number from 1 to 2048");
    line.add_option("--type", "type", "fp16, bf16");
    line.add_flag("--causal", "mask");
    line.add_positional("STAGE", "which", "1, 2, 3");
  }
};

std::uint64_t parsed_n(const std::string& text) {
  Line given;
  given.line.parse({"--n", text});
  return given.line.number("--n", 1, 2048).value();
}

std::string refusal_parsing(const std::vector<std::string>& arguments) {
  Line given;
  return refusal_of([&] { given.line.parse(arguments); });
}

}  // namespace

TEST_CASE("a number is plain decimal digits") {
  CHECK(parsed_n("1") == 1);
  CHECK(parsed_n("2048") == 2048);
  for (const char* text : {"", " 5", "5 ", "+5", "-5", "05", "0x10", "1e3", "5.0", "0", "2049",
                           "five", "99999999999999999999999", "٣"}) {
    INFO("'" << text << "'");
    CHECK_THROWS_AS(parsed_n(text), Refusal);
    CHECK_THROWS_WITH(parsed_n(text), ContainsSubstring(text) &&
                                          ContainsSubstring("a whole number from 1 to 2048"));
  }
}

TEST_CASE("a number up to 2^64 - 1 is read, one more is refused") {
  Line given;
  given.line.parse({"--n", "18446744073709551615"});
  CHECK(given.line.number("--n", 0, UINT64_MAX) == UINT64_MAX);
  Line beyond;
  beyond.line.parse({"--n", "18446744073709551616"});
  CHECK_THROWS_AS(beyond.line.number("--n", 0, UINT64_MAX), Refusal);
}

TEST_CASE("options, switches and the positional are read in any order") {
  Line given;
  CHECK(given.line.parse({"2", "--causal", "--n=7"}));
  CHECK(given.line.value("STAGE") == "2");
  CHECK(given.line.has("--causal"));
  CHECK(given.line.number("--n", 1, 2048) == 7u);
  CHECK_FALSE(given.line.has("--type"));
  CHECK_FALSE(given.line.value("--type").has_value());
}

TEST_CASE("every refusal names the argument, what was given and what is allowed") {
  CHECK_THAT(refusal_parsing({"--n", "1", "--n", "2"}),
             ContainsSubstring("--n") && ContainsSubstring("2 times") && ContainsSubstring("once"));
  CHECK_THAT(refusal_parsing({"--causal", "--causal"}),
             ContainsSubstring("--causal") && ContainsSubstring("2 times"));
  CHECK_THAT(refusal_parsing({"1", "2"}), ContainsSubstring("STAGE"));
  CHECK_THAT(refusal_parsing({"--n"}), ContainsSubstring("--n") && ContainsSubstring("2048"));
  CHECK(refusal_parsing({"--causal=false"}) == "--causal 'false'; allowed: no value");
  CHECK_THAT(refusal_parsing({"--size", "3"}),
             ContainsSubstring("--size") && ContainsSubstring("--causal, --n, --type, STAGE"));
  CHECK_THAT(refusal_parsing({"-x"}), ContainsSubstring("-x"));

  Line given;
  given.line.parse({"--type", "fp8"});
  CHECK_THROWS_WITH(given.line.choice("--type", {"fp16", "bf16"}),
                    ContainsSubstring("--type 'fp8'") && ContainsSubstring("fp16, bf16"));
}

TEST_CASE("a refusal is one line") {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--n"}, {"--n", "1", "--n", "2"}, {"--causal=0"}, {"--what"}, {"1", "2"}}) {
    CHECK(refusal_parsing(arguments).find('\n') == std::string::npos);
    CHECK(refusal_parsing(arguments) != "not refused");
  }
}

}  // namespace workshop
