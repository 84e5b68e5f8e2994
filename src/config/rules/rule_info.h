// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.h"

namespace nereid::config {

/// The effect of violating a rule.
enum class Severity {
  /// The model is not loaded.
  kError,
  /// The model is loaded, but the setting has no effect or an unexpected one.
  kWarning,
};

/// Returns "error" or "warning".
std::string_view SeverityName(Severity severity);

/// When a rule is applied. This decides what a client learns about a violation.
enum class Stage {
  /// When the directory is read. A load request then fails with "failed to poll from model
  /// repository", and the reason is only in the log.
  kPoll,
  /// When a version is loaded, so that the load response and the repository index contain the
  /// reason. If auto-completion is disabled, already when the directory is read.
  kLoadOrStrictPoll,
  /// When a version is loaded.
  kLoad,
};

/// The description of a rule, for documents and commands.
struct RuleInfo {
  std::string_view id;
  /// The fields that the rule concerns, without list positions, separated by ", "; "*" for all. The
  /// rules "tensor.…" name inputs but apply to outputs as well.
  std::string_view field;
  /// The rule as a sentence.
  std::string_view summary;
  /// What is expected, in a few words.
  std::string_view expected;
  /// How to correct a violation: a sentence in the imperative.
  std::string_view remedy;
  Severity severity = Severity::kError;
  Stage stage = Stage::kPoll;
  /// The status code of a violation.
  base::StatusCode code = base::StatusCode::kInvalidArgument;
};

}  // namespace nereid::config
