// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "config/text/positions.h"

namespace nereid::config {

/// One place that keeps a text from being a configuration.
struct TextProblem {
  /// "text.field", "text.value", …; see TextProblemKinds.
  std::string_view rule;
  TextPosition position;
  /// The path of the field it is in; empty where it is in none.
  std::string field;
  std::string message;
  /// What was expected there, in a few words, and how to mend it; may be empty.
  std::string expected;
  std::string remedy;
};

struct TextReading {
  /// The configuration without the fields that cannot be read; null if not even that is there.
  ModelConfigPtr config;
  /// In the order of the text.
  std::vector<TextProblem> problems;
  /// The paths of the fields that were left out.
  std::vector<std::string> unread;
  /// The text as it was read in the end: the fields that were left out are blank. Empty if there
  /// are none: the text is the one given.
  std::string blanked;
};

/// Reads a configuration in protobuf's text format and goes on behind errors: a field that cannot
/// be read is left out and the rest is read again, until nothing is wrong any more, the text has no
/// fields to leave out, or `max_problems` are found.
TextReading ReadModelConfigText(std::string_view text, size_t max_problems);

/// What can be wrong with a text: the names that TextProblem::rule takes.
struct TextProblemKind {
  std::string_view rule;
  std::string_view summary;
};
std::vector<TextProblemKind> TextProblemKinds();

}  // namespace nereid::config
