// SPDX-License-Identifier: MIT
/// @file
/// The program as its user meets it: arguments in, text or a refusal out.
#include "trace.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/attention/safetensors.hpp"
#include "common/attention/tiled_reference.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;
using nlohmann::json;

namespace {

const std::string kFile = WORKSHOP_DATA_DIR "/minilm_l0_h2_n332_f16.safetensors";

using Arguments = std::vector<std::string>;

json trace_json(Arguments arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return json::parse(trace_text(arguments));  // strict: no NaN, nothing behind the value
}

std::string refusal_tracing(const Arguments& arguments) {
  return refusal_of([&] { trace_text(arguments); });
}

/// The longest line of a text.
std::size_t width_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
  return width;
}

bool near(const json& number, double expected, double tolerance = 1e-13) {
  return number.is_number() && std::abs(number.get<double>() - expected) <= tolerance;
}

}  // namespace

TEST_CASE("the hand example reaches 6, with the numbers of the page on the way") {
  const json trace = trace_json({});
  const json& first = trace["tiles"][0];
  const json& second = trace["tiles"][1];
  REQUIRE(trace["tiles"].size() == 2);
  CHECK(first == json::parse(R"({"tile":0,"scores":[0,0],"m":0,"alpha":0,"p":[1,1],"l":2,"a":[4],
                                 "output":[2]})"));
  CHECK(second["scores"] == json{std::log(2)});
  CHECK(second["m"] == std::log(2));
  CHECK(near(second["alpha"], 0.5));
  CHECK(second["p"] == json{1});
  CHECK(near(second["l"], 2));
  CHECK(near(second["a"][0], 12));
  CHECK(near(trace["output"][0], 6));
  CHECK(near(trace["dense"]["output"][0], 6));
  CHECK(near(trace["dense"]["weights"][0], 0.25));
  CHECK(near(trace["dense"]["weights"][1], 0.25));
  CHECK(near(trace["dense"]["weights"][2], 0.5));
  CHECK(trace["bug"].is_null());
}

TEST_CASE("JSON has exactly the promised keys, in order, and 17 digits") {
  const std::string text = trace_text({"--format", "json"});
  const auto trace = nlohmann::ordered_json::parse(text);
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object.items()) names.push_back(name);
    return names;
  };
  CHECK(keys(trace) == std::vector<std::string>{"tiles", "output", "dense", "bug"});
  CHECK(keys(trace["dense"]) == std::vector<std::string>{"weights", "output"});
  CHECK(keys(trace["tiles"][0]) ==
        std::vector<std::string>{"tile", "scores", "m", "alpha", "p", "l", "a", "output"});
  CHECK_THAT(text, ContainsSubstring("0.69314718055994529"));
  CHECK(text.back() == '\n');
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("forgetting to rescale a gives 7 and the table shows the step") {
  CHECK(near(trace_json({"--bug", "forgot-to-rescale-a"})["output"][0], 7));
  const std::string table = trace_text({"--bug", "forgot-to-rescale-a"});
  CHECK_THAT(table, ContainsSubstring("<- a should be 12"));
  CHECK_THAT(table, ContainsSubstring("first wrong step: tile 1, where a is 14 and should be 12"));
  CHECK_THAT(table, ContainsSubstring("output     7\n  should be  6\n"));
}

TEST_CASE("each bug changes what it should in the hand example and where it is at home") {
  const auto output = [](const Arguments& arguments) { return trace_json(arguments)["output"][0]; };
  CHECK(near(output({"--bug", "forgot-to-rescale-l"}), 4));  // l = 2 + 1
  CHECK(near(output({"--bug", "tile-max"}), 6));             // the maximum rises: nothing to see
  CHECK(near(output({"--bug", "no-max"}), 6));               // exp(s) is still in range
  CHECK_THAT(trace_text({"--bug", "tile-max"}), ContainsSubstring("no step is wrong"));
  CHECK_THAT(trace_text({"--bug", "no-max"}),
             ContainsSubstring("tile 1, where m is 0 and should be 0.6931"));

  const Arguments falling = {"--logits", "800;0", "--values", "1;3"};
  const Arguments large = {"--logits", "800;801", "--values", "1;3"};
  const auto with_bug = [](Arguments arguments, const char* bug) {
    arguments.insert(arguments.end(), {"--bug", bug});
    return arguments;
  };
  CHECK(near(output(falling), 1));
  CHECK(output(with_bug(falling, "tile-max")).is_null());
  CHECK(trace_json(with_bug(falling, "tile-max"))["tiles"][1]["alpha"].is_null());  // exp(800)
  CHECK_THAT(trace_text(with_bug(falling, "tile-max")),
             ContainsSubstring("tile 1, where m is 0 and should be 800"));
  CHECK(near(output(large), 1 + 2 / (1 + std::exp(-1))));
  CHECK(output(with_bug(large, "no-max")).is_null());
  CHECK_THAT(trace_text(with_bug(large, "no-max")), ContainsSubstring("output     nan"));
  CHECK(trace_json(with_bug(large, "no-max"))["bug"] == "no-max");
}

TEST_CASE("the examples that the table suggests do go wrong") {
  for (const char* bug : {"tile-max", "no-max"}) {
    const std::string table = trace_text({"--bug", bug});
    CHECK_THAT(table, ContainsSubstring("the output is right all the same"));
    CHECK_THAT(table,
               ContainsSubstring(std::string("./workshop trace --bug ") + bug + " --logits"));
  }
}

TEST_CASE("numbers may be signed, logarithms, and have exponents and spaces around them") {
  const json trace = trace_json({"--logits", "-1, +log(2) ;-log(.5),2e-1,log( 3 )", "--values",
                                 "1:-2,3:4.;-0.5:log(6),0:0,0:1E1"});
  CHECK(trace["tiles"][0]["scores"] == json{-1, std::log(2)});
  CHECK(trace["tiles"][1]["scores"] == json{-std::log(0.5), 0.2, std::log(3)});
  CHECK(trace["output"].size() == 2);
  CHECK(near(trace["output"][0], trace["dense"]["output"][0]));
  CHECK(near(trace["output"][1], trace["dense"]["output"][1]));
}

TEST_CASE("a query of a real file is the tiled reference, number for number") {
  const bool causal = GENERATE(false, true);
  const int block_n = GENERATE(1, 7, 32, 332, 2147483647);
  const int row = GENERATE(0, 17, 331);
  Arguments arguments = {
      "--qkv", kFile, "--row", std::to_string(row), "--block-n", std::to_string(block_n)};
  if (causal) arguments.push_back("--causal");
  const json trace = trace_json(arguments);

  const Inputs inputs = inputs_from(read_safetensors(kFile), kFile);
  const auto q = widen(inputs.type, inputs.q);
  const auto k = widen(inputs.type, inputs.k);
  const auto v = widen(inputs.type, inputs.v);
  int tiles = 0;
  const auto compare = [&](const TileStep<double>& step) {
    const json& tile = trace["tiles"][tiles];
    REQUIRE(tile["tile"] == tiles++);
    REQUIRE(tile["scores"].size() == step.scores.size());
    for (std::size_t i = 0; i < step.scores.size(); ++i) {
      const json score = std::isinf(step.scores[i]) ? json() : json(step.scores[i]);
      REQUIRE(tile["scores"][i] == score);
    }
    REQUIRE(tile["m"] == step.state.m);
    REQUIRE(tile["alpha"] == step.alpha);
    REQUIRE(tile["p"] == json(std::vector<double>(step.p.begin(), step.p.end())));
    REQUIRE(tile["l"] == step.state.l);
    REQUIRE(tile["a"] == json(step.state.a));
    REQUIRE(tile["output"] == json(step.state.output()));
  };
  const TiledOptions options{.block_n = block_n, .mask = causal ? Mask::causal : Mask::none};
  CHECK(trace["output"] == json(tiled_row<double>(q, k, v, row, options, compare).output()));
  CHECK(std::size_t(tiles) == trace["tiles"].size());
  CHECK(trace["dense"]["weights"].size() == 332);
  for (std::size_t d = 0; d < 32; ++d) {
    CHECK(near(trace["output"][d], trace["dense"]["output"][d]));
  }
}

TEST_CASE("the output of a real query is the file's own FP64 reference") {
  const StoredTensors tensors = read_safetensors(kFile);
  for (const bool causal : {false, true}) {
    Arguments arguments = {"--qkv", kFile, "--row", "200"};
    if (causal) arguments.push_back("--causal");
    const json trace = trace_json(arguments);
    const auto reference = numbers_from(tensors, causal ? "o_causal_f64" : "o_full_f64", kFile);
    for (int d = 0; d < 32; ++d) CHECK(near(trace["output"][d], reference(200, d), 1e-12));
  }
}

TEST_CASE("no table is wider than 100 columns, and JSON leaves nothing out") {
  std::string logits = "0", values = "1";
  for (int key = 1; key < 300; ++key) {
    logits += (key % 50 ? "," : ";") + fmt::format("-{}.123456e-30", key);
    values += (key % 50 ? "," : ";") + fmt::format("-{}.123456e-30", key);
  }
  const std::vector<Arguments> requests = {
      {"--logits", logits, "--values", values},
      {"--logits", "1,2,3,4,5,6,7,8", "--values", "1:2,1:2,1:2,1:2,1:2,1:2,1:2,1:2"},
      {"--qkv", kFile, "--row", "17"},
      {"--qkv", kFile, "--row", "331", "--block-n", "1", "--causal"},
      {"--qkv", kFile, "--row", "40", "--causal", "--bug", "no-max"},
      {"--qkv", kFile, "--row", "331", "--bug", "forgot-to-rescale-a"},
      {"--bug", "tile-max"},
      {"--bug", "no-max"},
      {"--bug", "forgot-to-rescale-l"},
  };
  for (const Arguments& request : requests) {
    CAPTURE(request);
    CHECK(width_of(trace_text(request)) <= 100);
  }
  CHECK(trace_json(requests[0])["dense"]["weights"].size() == 300);
  CHECK_THAT(trace_text(requests[0]), ContainsSubstring("(44 more)"));
}

TEST_CASE("tiles in the future are told in one line") {
  CHECK_THAT(
      trace_text({"--qkv", kFile, "--row", "17", "--causal"}),
      ContainsSubstring("tiles 1 to 10, keys 32 to 331: all in the future, so m, l and a stay"));
}

TEST_CASE("every bad request is refused in a sentence with the option, its value and what may be") {
  struct BadRequest {
    Arguments arguments;
    std::string sentence;
  };
  const auto by_hand = [](const std::string& logits, const std::string& values) {
    return Arguments{"--logits", logits, "--values", values};
  };
  const std::string bad_number = "allowed: a decimal number or log(x) with x > 0, within FP64";
  std::vector<BadRequest> requests = {
      {{"--logits", "0"},
       "--logits '0' is given without --values; allowed: --logits with --values"},
      {{"--values", "0"},
       "--values '0' is given without --logits; allowed: --values with --logits"},
      {{"--qkv", kFile, "--row", "1", "--logits", "0", "--values", "1"},
       "and --logits '0' are both given; allowed: one of them"},
      {{"--qkv", kFile}, "is given without --row"},
      {{"--row", "1"}, "--row '1' is given without --qkv"},
      {{"--block-n", "32"}, "--block-n '32' is given without --qkv"},
      {{"--causal"}, "--causal is given without --qkv"},
      {{"--row", "1", "--logits", "0", "--values", "1"}, "--row '1' is given without --qkv"},
      {{"--qkv", kFile, "--row", "332"}, "--row '332'; allowed: 0 to 331"},
      {{"--qkv", kFile, "--row", "1", "--block-n", "0"}, "--block-n '0'; allowed: 1 to"},
      {{"--qkv", "no such file", "--row", "1"}, "no such file: there is no such file"},
      {{"--bug", "off-by-one"},
       "--bug 'off-by-one'; allowed: forgot-to-rescale-a, forgot-to-rescale-l, tile-max, no-max"},
      {{"--bug", "none"}, "--bug 'none'; allowed"},
      {{"--format", "xml"}, "--format 'xml'; allowed: table, json"},
      {{"--format", "json", "--format", "json"}, "--format"},
      {{"--bug"}, "--bug"},
      {{"--tile", "1"}, "--tile"},
      {{"extra"}, "extra"},
      {by_hand("0;1", "1"), "--values '1': there are 1 tiles of values and 2 of logits"},
      {by_hand("0,1;2", "1;2"), "--values '1;2': tile 0 has 1 values and 2 logits"},
      {by_hand("0;1", "1:2;3"),
       "--values '1:2;3': key 0 of tile 1 has 1 columns and the first key 2"},
      {by_hand("", "1"), "--logits '': tile 0 is empty"},
      {by_hand("0;", "1;2"), "--logits '0;': tile 1 is empty"},
      {by_hand(";0", "1;2"), "--logits ';0': tile 0 is empty"},
      {by_hand("0;;1", "1;2;3"), "--logits '0;;1': tile 1 is empty"},
      {by_hand("0", "1; "), "--values '1; ': tile 1 is empty"},
      {by_hand("0,", "1,2"), "key 1 of tile 0 has ''; " + bad_number},
      {by_hand("0", "1:"), "--values '1:': key 0 of tile 0 has ''; " + bad_number},
  };
  for (const char* number :
       {"0x10",  "nan",         "inf",        "-inf",  "log(0)", "log(-1)", "log()",
        "log(2", "log(log(2))", "log(1e999)", "1e999", "-1e999", "1e-999",  "--1",
        "+-1",   "1 2",         "1..2",       "abc",   "1f",     "e5",      "."}) {
    requests.push_back(
        {by_hand(number, "1"),
         fmt::format("--logits '{0}': key 0 of tile 0 has '{0}'; {1}", number, bad_number)});
  }
  for (const char* number : {"-1", "+1", " 1", "1 ", "01", "0x1", "1e1", "1.0", "", "2147483648",
                             "18446744073709551616"}) {
    requests.push_back({{"--qkv", kFile, "--row", number},
                        fmt::format("--row '{}'; allowed: 0 to N - 1 in plain digits", number)});
    requests.push_back({{"--qkv", kFile, "--row", "1", "--block-n", number},
                        fmt::format("--block-n '{}'; allowed: 1 to 2147483647 in plain", number)});
  }
  for (const BadRequest& request : requests) {
    CAPTURE(request.arguments);
    const std::string sentence = refusal_tracing(request.arguments);
    CHECK_THAT(sentence, ContainsSubstring(request.sentence));
    CHECK(sentence != "not refused");
    CHECK(sentence.find('\n') == std::string::npos);
  }
}

TEST_CASE("no option may be given twice") {
  const std::vector<Arguments> options = {
      {"--logits", "0"},  {"--values", "0"}, {"--qkv", kFile},      {"--row", "1"},
      {"--block-n", "1"}, {"--causal"},      {"--bug", "tile-max"}, {"--format", "json"}};
  for (const Arguments& option : options) {
    Arguments twice = option;
    twice.insert(twice.end(), option.begin(), option.end());
    CAPTURE(twice);
    CHECK_THAT(refusal_tracing(twice), ContainsSubstring(option[0]) && ContainsSubstring("once"));
  }
}
