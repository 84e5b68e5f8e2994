// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/rules/validate.h"
#include "config/text/positions.h"

namespace nereid::repository {

/// A problem in a repository.
struct Finding {
  /// The model's directory, without its parents.
  std::string model;
  /// The file or directory that has the problem; mostly a configuration.
  std::string file;
  /// The position in the file; {0, 0} if the problem concerns the whole file.
  config::TextPosition position;
  /// The path of the field, as in config::Problem; may be empty.
  std::string field;
  /// The version of the model that has the problem, if it is one.
  std::optional<int64_t> version = std::nullopt;
  /// The rule's id.
  std::string rule;
  config::Severity severity = config::Severity::kError;
  std::string message;
  /// What was expected, in a few words, and how to correct the problem; may be empty.
  std::string expected;
  std::string remedy;
};

}  // namespace nereid::repository
