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

/// A flag and its value as they stood on the command line.
struct FlagWord {
  const FlagSpec* flag;
  std::string_view value;
};

/// Cuts a command line into flags by the rules of GNU getopt_long for long options: `--x=v`,
/// `--x v` (whatever v is), unambiguous abbreviations, "--" ends the flags, other words may stand
/// anywhere and are collected. The views point into the arguments.
class FlagWords {
 public:
  explicit FlagWords(std::span<const std::string> arguments) : arguments_(arguments) {}

  /// The next flag; nothing at the end. INVALID_ARGUMENT with a whole line (`Bad option: …`) for
  /// what is no flag, an ambiguous abbreviation, a value too much or missing.
  base::Result<std::optional<FlagWord>> Next();

  /// The words met so far that are neither flags nor values; all of them after the end.
  const std::vector<std::string_view>& others() const { return others_; }

 private:
  std::span<const std::string> arguments_;
  size_t next_ = 0;
  std::vector<std::string_view> others_;
};

/// `text` with each control character, line ends included, replaced by '?': what people and scripts
/// put into arguments must not make a message of several lines.
std::string OneLine(std::string text);

/// `Bad option: "--<flag>". <reason>` in one line.
std::string BadOption(std::string_view flag, std::string_view reason);

/// The flag whose name is nearest to `name` as people mistype it; "" if none is near.
std::string_view NearestFlag(std::string_view name);

}  // namespace nereid::app
