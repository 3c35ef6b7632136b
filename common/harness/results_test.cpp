// SPDX-License-Identifier: MIT
#include "common/harness/results.hpp"

#include <limits>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "common/harness/catch.hpp"

namespace workshop {
namespace {

ResultRow good_row() {
  return {.stage = "stage2_online_softmax",
          .device = "NVIDIA H200",
          .input = "normal, seed 1",
          .n = 2048,
          .d = 64,
          .type = "bf16",
          .mask = "causal",
          .block_n = 32,
          .error_share = 0.5,
          .time_ms = 1.25,
          .repeats = 5,
          .passed = true};
}

}  // namespace

TEST_CASE("rows survive the envelope, and a share that is no number becomes null") {
  ResultRow bad = good_row();
  bad.error_share = std::numeric_limits<double>::infinity();
  bad.passed = false;
  bad.detail = "o[0][0] = nan";
  const auto json = envelope("run", {good_row(), bad}, nlohmann::json::array());
  // Parsed again by a strict parser: no bare nan or inf.
  const auto parsed = nlohmann::json::parse(json.dump());
  CHECK(parsed.at("rows")[1].at("error_share_of_bound").is_null());
  const auto rows = rows_of(parsed);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].stage == "stage2_online_softmax");
  CHECK(rows[0].error_share == 0.5);
  CHECK(rows[0].time_ms == 1.25);
  CHECK(rows[0].passed);
  CHECK_FALSE(rows[1].error_share.has_value());
  CHECK_FALSE(rows[1].passed);
  CHECK(rows[1].detail == "o[0][0] = nan");
}

TEST_CASE("the envelope says what it is and how it was built") {
  const auto json = envelope("check", {}, nlohmann::json::array());
  CHECK(json.at("kind") == "check");
  for (const char* key : {"version", "commit", "compiler", "flags", "build_type", "cuda"}) {
    CHECK(json.at("build").contains(key));
  }
  CHECK_FALSE(json.at("build").at("compiler").get<std::string>().empty());
}

TEST_CASE("the table fits 100 columns and shows what is wrong") {
  ResultRow bad = good_row();
  bad.error_share.reset();
  bad.passed = false;
  bad.detail = "o[0][0] = nan";
  ResultRow fault = bad;
  fault.device = "NVIDIA GeForce RTX 4070 Laptop GPU";
  fault.error_share = 6e31;
  fault.detail = "a report of a fault that goes on and on";
  while (fault.detail.size() < 350) fault.detail += ", thread by thread";
  const std::string text = table({good_row(), bad, fault});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  CHECK_THAT(text, ContainsSubstring("pass"));
  CHECK_THAT(text, ContainsSubstring("WRONG"));
  CHECK_THAT(text, ContainsSubstring("o[0][0] = nan"));
}

}  // namespace workshop
