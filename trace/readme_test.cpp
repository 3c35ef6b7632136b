// SPDX-License-Identifier: MIT
/// @file
/// What the page quotes is what the program prints.
///
/// A fenced block after `<!-- output: trace ARGUMENTS -->` is the whole output of `./workshop trace
/// ARGUMENTS`; after `<!-- output part: trace ARGUMENTS -->` it is a part of it.
#include "trace.hpp"

#include <fstream>
#include <sstream>

#include "common/harness/catch.hpp"

using namespace workshop;

namespace {

struct Quote {
  bool whole = false;
  std::string arguments;
  std::string text;
};

/// The text between two marks behind `from`, which moves behind the second.
std::string between(const std::string& page, std::size_t& from, const std::string& first,
                    const std::string& second) {
  const std::size_t begin = page.find(first, from);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find(second, begin + first.size());
  REQUIRE(end != std::string::npos);
  from = end + second.size();
  return page.substr(begin + first.size(), end - begin - first.size());
}

std::vector<Quote> quotes_of(const std::string& page) {
  std::vector<Quote> quotes;
  std::size_t at = 0;
  while ((at = page.find("\n<!-- ", at)) != std::string::npos) {
    const std::string comment = between(page, at, "<!-- ", " -->\n");
    const std::size_t colon = comment.find(": ");
    REQUIRE(colon != std::string::npos);
    const std::string kind = comment.substr(0, colon);
    REQUIRE((kind == "output" || kind == "output part"));
    between(page, at, "```", "\n");  // the language of the block
    const std::size_t begin = at;
    const std::size_t end = page.find("```", begin);
    REQUIRE(end != std::string::npos);
    quotes.push_back(
        {kind == "output", comment.substr(colon + 2), page.substr(begin, end - begin)});
    at = end + 3;
  }
  return quotes;
}

/// Words as a shell would see them, for arguments without spaces; paths begin at the data.
std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    if (word.front() == '"') word = word.substr(1, word.size() - 2);
    const std::string data = "common/data/";
    if (word.starts_with(data)) word = WORKSHOP_DATA_DIR "/" + word.substr(data.size());
    words.push_back(word);
  }
  REQUIRE(words.size() >= 1);
  REQUIRE(words.front() == "trace");
  words.erase(words.begin());
  return words;
}

}  // namespace

TEST_CASE("the outputs on the page are what the program prints") {
  std::ifstream file(TRACE_README);
  REQUIRE(file);
  std::stringstream page;
  page << file.rdbuf();
  const std::vector<Quote> quotes = quotes_of(page.str());
  CHECK(quotes.size() >= 5);
  for (const Quote& quote : quotes) {
    CAPTURE(quote.arguments);
    const std::string output = trace_text(words_of(quote.arguments));
    if (quote.whole) {
      CHECK(quote.text == output);
    } else {
      CHECK_THAT(output, ContainsSubstring(quote.text));
    }
  }
}
