// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "config/text/positions.h"

namespace nereid::config {

/// An error in a text.
struct TextProblem {
  /// "text.unknown_field", "text.value" and so on; see TextProblemKinds.
  std::string_view rule;
  TextPosition position;
  /// The path of the field that contains the error; empty if there is none.
  std::string field;
  std::string message;
  /// What was expected, in a few words, and how to correct the error. Both may be empty.
  std::string expected;
  std::string remedy;
};

struct TextReading {
  /// The configuration without the unreadable fields; null if the rest cannot be parsed either.
  ModelConfigPtr config;
  /// In the order of the text.
  std::vector<TextProblem> problems;
  /// The paths of the fields that were left out.
  std::vector<std::string> unread;
  /// The text that was parsed last, with the omitted fields replaced by blanks. Empty if nothing
  /// was omitted: the given text was parsed.
  std::string blanked;
};

/// Parses a configuration in protobuf's text format and continues after errors. An unreadable field
/// is left out and the rest is parsed again. This ends when no error is left, when an error is in
/// no field, or when `max_problems` errors are found.
TextReading ReadModelConfigText(std::string_view text, size_t max_problems);

/// The kinds of errors in a text: the values of TextProblem::rule.
struct TextProblemKind {
  std::string_view rule;
  std::string_view summary;
};
std::vector<TextProblemKind> TextProblemKinds();

}  // namespace nereid::config
