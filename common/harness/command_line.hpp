// SPDX-License-Identifier: MIT
/// @file
/// Command lines whose refusals are one sentence: the option, the value given, the values allowed.
/// CLI11 parses; this says how strict it is and how an error reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace workshop {

/// The options of a command, strictly read: what is not declared, or given twice, is refused.
class CommandLine {
 public:
  /// @param command  as the reader typed it, for the help: "./workshop run"
  CommandLine(const std::string& command, const std::string& description);
  ~CommandLine();

  /// An option with a value, at most once: `name` with its dashes.
  /// @param allowed  completes the sentence "allowed: ..."
  void add_option(const std::string& name, const std::string& help, const std::string& allowed);
  /// A switch without a value, at most once.
  void add_flag(const std::string& name, const std::string& help);
  /// The one argument without a dash, optional.
  void add_positional(const std::string& name, const std::string& help, const std::string& allowed);

  /// @param arguments  without the program's name
  /// @returns false if the help was asked for, and printed on stdout: then there is nothing to do
  /// @throws Refusal for an unknown, incomplete or repeated argument
  bool parse(std::vector<std::string> arguments);

  bool has(const std::string& name) const { return !given_.at(name).empty(); }
  std::optional<std::string> value(const std::string& name) const;

  /// A whole number in plain decimal digits: no sign, space, hex, leading zero or exponent.
  /// @throws Refusal unless it is in [min, max]
  std::optional<std::uint64_t> number(const std::string& name, std::uint64_t min,
                                      std::uint64_t max) const;
  /// One of `choices`.
  /// @throws Refusal naming them all
  std::optional<std::string> choice(const std::string& name,
                                    const std::vector<std::string_view>& choices) const;

  /// "--n '0': allowed are ..."; for values that parse but cannot be.
  [[noreturn]] void refuse(const std::string& name, const std::string& allowed) const;

 private:
  void declare(const std::string& name, const std::string& allowed);
  std::string names() const;
  void require_no_switch_value(const std::string& argument) const;
  void require_own_value(const std::string& argument, const std::string& next) const;

  std::unique_ptr<CLI::App> app_;
  std::map<std::string, std::string> allowed_;             // by name
  std::map<std::string, std::vector<std::string>> given_;  // by name, in order
};

}  // namespace workshop
