// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/rules/validate.h"
#include "config/text/positions.h"

namespace nereid::repository {

/// Something in a repository that is not as it should be.
struct Finding {
  /// The model's directory, without its parents.
  std::string model;
  /// The file or directory that it is about: a configuration, mostly.
  std::string file;
  /// Where in the file; {0, 0} if it is about the file as a whole.
  config::TextPosition position;
  /// The path of the field, as in config::Problem; empty if it is about none.
  std::string field;
  /// The rule's id.
  std::string rule;
  config::Severity severity = config::Severity::kError;
  std::string message;
  /// What was expected, in a few words, and how to mend it; may be empty.
  std::string expected;
  std::string remedy;
};

}  // namespace nereid::repository
