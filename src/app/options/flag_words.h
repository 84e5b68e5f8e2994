// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/flag_table.h"
#include "base/result.h"

namespace nereid::app {

/// A flag and its value on the command line.
struct FlagWord {
  const FlagSpec* flag;
  std::string_view value;
};

/// Splits a command line into flags by the rules of GNU getopt_long for long options: `--x=v`,
/// `--x v` (even if v begins with a hyphen), unambiguous abbreviations, and "--", which ends the
/// flags. Other words may occur anywhere and are collected. The views point into the arguments.
class FlagWords {
 public:
  explicit FlagWords(std::span<const std::string> arguments) : arguments_(arguments) {}

  /// Returns the next flag, or nothing at the end. Returns INVALID_ARGUMENT with a complete line
  /// (`Bad option: …`) for an unknown flag, an ambiguous abbreviation, a missing value, and a value
  /// of a flag that takes none.
  base::Result<std::optional<FlagWord>> Next();

  /// Returns the words read so far that are neither flags nor values.
  const std::vector<std::string_view>& others() const { return others_; }

 private:
  std::span<const std::string> arguments_;
  size_t next_ = 0;
  std::vector<std::string_view> others_;
};

/// Returns `text` with each control character, including line ends, replaced by '?', so that an
/// argument cannot turn an error message into several lines.
std::string OneLine(std::string text);

/// Returns `Bad option: "--<flag>". <reason>` as one line.
std::string BadOption(std::string_view flag, std::string_view reason);

/// Returns the name of the flag with the smallest edit distance to `name`, or "" if all flags are
/// too different.
std::string_view NearestFlag(std::string_view name);

}  // namespace nereid::app
