// SPDX-License-Identifier: Apache-2.0
// The command lines of the offline tools.
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
  std::string_view name;  // without the hyphens; a second, short name follows a comma ("output,o")
  std::string_view value_form;  // "path", "text|json"; "" = the flag takes no value
  std::string_view help;
};

/// What stood on the command line.
class ToolArguments {
 public:
  /// `--x=v`, `--x v`, `-x v`; "--" ends the flags; other words are collected. INVALID_ARGUMENT
  /// with a line for stderr for what `flags` does not have.
  static base::Result<ToolArguments> Parse(std::span<const ToolFlag> flags,
                                           std::span<const std::string> words);

  bool Has(std::string_view flag) const { return values_.contains(flag); }
  /// The last value; `otherwise` if the flag was not given.
  std::string Get(std::string_view flag, std::string otherwise = "") const;
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
};

/// The last part of a usage text: every flag with its help.
std::string FlagsText(std::span<const ToolFlag> flags);

}  // namespace nereid::app::tools
