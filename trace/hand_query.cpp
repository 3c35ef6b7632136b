// SPDX-License-Identifier: MIT
/// @file
/// Reads "0,0;log(2)" and "1,3;10".
#include "query.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace workshop {
namespace {

/// An option's text cut into tiles, keys and columns; only the numbers are still text.
struct Parts {
  std::string_view option;
  std::string_view text;
  std::vector<std::vector<std::string_view>> tiles;  // [tiles][keys]

  [[noreturn]] void refuse(const std::string& what, std::string_view allowed) const {
    throw Refusal(fmt::format("{} '{}': {}; allowed: {}", option, text, what, allowed));
  }
};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// At least one part, each without the spaces around it.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Parts parts_of(std::string_view option, const std::string& text) {
  Parts parts{option, text, {}};
  for (std::string_view tile : split(text, ';')) {
    if (tile.empty()) {
      parts.refuse(fmt::format("tile {} is empty", parts.tiles.size()), "one key or more in each");
    }
    parts.tiles.push_back(split(tile, ','));
  }
  return parts;
}

/// Takes a sign off the front of `text`.
double take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return 1;
  const double sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  return sign;
}

/// A decimal number without a sign: no hex, no infinity, no NaN, nothing behind it, in range.
std::optional<double> decimal(std::string_view text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> signed_decimal(std::string_view text) {
  const double sign = take_sign(text);
  const auto number = decimal(text);
  return number ? std::optional(sign * *number) : std::nullopt;
}

/// A decimal number or log(x), with an optional sign.
std::optional<double> number_of(std::string_view text) {
  const double sign = take_sign(text);
  if (!text.starts_with("log(") || !text.ends_with(")")) {
    const auto number = decimal(text);
    return number ? std::optional(sign * *number) : std::nullopt;
  }
  const auto argument = signed_decimal(trim(text.substr(4, text.size() - 5)));
  return argument && *argument > 0 ? std::optional(sign * std::log(*argument)) : std::nullopt;
}

double number_or_refuse(const Parts& parts, std::string_view text, std::size_t tile,
                        std::size_t key) {
  if (const auto number = number_of(text)) return *number;
  parts.refuse(fmt::format("key {} of tile {} has '{}'", key, tile, text),
               "a decimal number or log(x) with x > 0, within FP64");
}

void require_same_shape(const Parts& logits, const Parts& values) {
  if (values.tiles.size() != logits.tiles.size()) {
    values.refuse(fmt::format("there are {} tiles of values and {} of logits", values.tiles.size(),
                              logits.tiles.size()),
                  "the same number");
  }
  for (std::size_t tile = 0; tile < logits.tiles.size(); ++tile) {
    const std::size_t logit_count = logits.tiles[tile].size();
    const std::size_t value_count = values.tiles[tile].size();
    if (value_count != logit_count) {
      values.refuse(
          fmt::format("tile {} has {} values and {} logits", tile, value_count, logit_count),
          "the same number");
    }
  }
}

}  // namespace

Query hand_query(const std::string& logits_text, const std::string& values_text) {
  const Parts logits = parts_of("--logits", logits_text);
  const Parts values = parts_of("--values", values_text);
  require_same_shape(logits, values);

  Query query;
  query.q = Matrix<double>(1, 1, 1.0);
  query.k.cols = 1;
  query.v.cols = int(split(values.tiles[0][0], ':').size());
  for (std::size_t tile = 0; tile < logits.tiles.size(); ++tile) {
    query.tile_keys.push_back(int(logits.tiles[tile].size()));
    for (std::size_t key = 0; key < logits.tiles[tile].size(); ++key) {
      query.k.values.push_back(number_or_refuse(logits, logits.tiles[tile][key], tile, key));
      const auto columns = split(values.tiles[tile][key], ':');
      if (int(columns.size()) != query.v.cols) {
        values.refuse(fmt::format("key {} of tile {} has {} columns and the first key {}", key,
                                  tile, columns.size(), query.v.cols),
                      "the same number");
      }
      for (std::string_view column : columns) {
        query.v.values.push_back(number_or_refuse(values, column, tile, key));
      }
    }
  }
  query.k.rows = query.v.rows = int(query.k.values.size());
  query.title = fmt::format("logits {} and values {}", logits_text, values_text);
  return query;
}

}  // namespace workshop
