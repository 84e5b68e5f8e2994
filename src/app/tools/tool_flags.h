// SPDX-License-Identifier: Apache-2.0
// The command lines of the tools.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::app::tools {

/// One flag of a tool.
struct ToolFlag {
  std::string_view name;        // without hyphens; a short name may follow a comma ("output,o")
  std::string_view value_form;  // "path", "text|json"; "" if the flag takes no value
  std::string_view help;
};

/// The parsed command line of a tool.
class ToolArguments {
 public:
  /// Parses `--x=v`, `--x v` and `-x v`. "--" ends the flags; other words are collected. Returns
  /// INVALID_ARGUMENT with a line for stderr for a flag that `flags` does not contain, a missing
  /// value, and a value of a flag that takes none.
  static base::Result<ToolArguments> Parse(std::span<const ToolFlag> flags,
                                           std::span<const std::string> words);

  bool Has(std::string_view flag) const { return values_.contains(flag); }
  /// Returns the last value of the flag, or `otherwise` if the flag was not given.
  std::string Get(std::string_view flag, std::string otherwise = "") const;
  /// Returns all values of the flag in their order.
  std::vector<std::string> All(std::string_view flag) const;
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> words_;
};

/// Returns the last part of a usage text: all flags with their help texts.
std::string FlagsText(std::span<const ToolFlag> flags);

}  // namespace nereid::app::tools
