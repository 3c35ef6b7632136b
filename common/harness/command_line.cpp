// SPDX-License-Identifier: MIT
#include "common/harness/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/attention/problem.hpp"

namespace workshop {
namespace {

constexpr const char* kNoValue = "no value";

/// All decimal digits, no leading zero, and it fits.
std::optional<std::uint64_t> plain_digits(std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return '0' <= c && c <= '9'; });
  if (!digits || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

CommandLine::CommandLine(const std::string& command, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, command)) {
  app_->allow_extras();  // refused below, in our words
  app_->get_formatter()->column_width(30);
}

CommandLine::~CommandLine() = default;

void CommandLine::declare(const std::string& name, const std::string& allowed) {
  allowed_[name] = allowed;
  given_[name] = {};
}

void CommandLine::add_option(const std::string& name, const std::string& help,
                             const std::string& allowed) {
  declare(name, allowed);
  // Every occurrence is kept: CLI11 has no sentence of ours for a repeated option.
  app_->add_option(name, given_[name], fmt::format("{}: {}", help, allowed))
      ->type_name("")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::add_flag(const std::string& name, const std::string& help) {
  declare(name, kNoValue);
  app_->add_flag(name, given_[name], help)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::add_positional(const std::string& name, const std::string& help,
                                 const std::string& allowed) {
  declare(name, allowed);
  app_->add_option(name, given_[name], fmt::format("{}: {}", help, allowed))
      ->type_name("")
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::string CommandLine::names() const {
  std::vector<std::string> names;
  for (const auto& [name, allowed] : allowed_) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void CommandLine::require_no_switch_value(const std::string& argument) const {
  const std::size_t equals = argument.find('=');
  const auto found = allowed_.find(argument.substr(0, equals));
  if (equals != argument.npos && found != allowed_.end() && found->second == kNoValue) {
    throw Refusal(
        fmt::format("{} '{}'; allowed: {}", found->first, argument.substr(equals + 1), kNoValue));
  }
}

void CommandLine::require_own_value(const std::string& argument, const std::string& next) const {
  const auto is_option = [&](const std::string& text) {
    return text.starts_with("--") && allowed_.count(text);
  };
  if (is_option(argument) && allowed_.at(argument) != kNoValue && is_option(next)) {
    throw Refusal(fmt::format("{} is followed by {}, not by a value; allowed: {}", argument, next,
                              allowed_.at(argument)));
  }
}

bool CommandLine::parse(std::vector<std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    require_no_switch_value(arguments[i]);
    require_own_value(arguments[i], i + 1 < arguments.size() ? arguments[i + 1] : "");
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app_->parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app_->help());
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--n: 1 required ... missing"
    const std::string name = text.substr(0, text.find(':'));
    throw Refusal(
        fmt::format("{} needs a value and none is given; allowed: {}", name, allowed_.at(name)));
  } catch (const CLI::ParseError& error) {
    throw Refusal(error.what());
  }
  if (const auto extras = app_->remaining(); !extras.empty()) {
    throw Refusal(fmt::format("argument '{}' is not known; allowed: {}", extras.front(), names()));
  }
  for (const auto& [name, values] : given_) {
    if (values.size() > 1) {
      throw Refusal(
          fmt::format("{} is given {} times, with '{}' first and '{}' last; allowed: once", name,
                      values.size(), values.front(), values.back()));
    }
  }
  return true;
}

std::optional<std::string> CommandLine::value(const std::string& name) const {
  const auto& values = given_.at(name);
  if (values.empty()) return std::nullopt;
  return values.front();
}

std::optional<std::uint64_t> CommandLine::number(const std::string& name, std::uint64_t min,
                                                 std::uint64_t max) const {
  const auto text = value(name);
  if (!text) return std::nullopt;
  const auto number = plain_digits(*text);
  if (!number || *number < min || *number > max) refuse(name, allowed_.at(name));
  return number;
}

std::optional<std::string> CommandLine::choice(const std::string& name,
                                               const std::vector<std::string_view>& choices) const {
  const auto text = value(name);
  if (text && std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    refuse(name, fmt::format("{}", fmt::join(choices, ", ")));
  }
  return text;
}

void CommandLine::refuse(const std::string& name, const std::string& allowed) const {
  throw Refusal(fmt::format("{} '{}'; allowed: {}", name, value(name).value_or(""), allowed));
}

}  // namespace workshop
