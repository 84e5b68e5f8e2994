// SPDX-License-Identifier: Apache-2.0
// The descriptions of the rules that complete a configuration, for documents and commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/complete/model_files.h"
#include "config/model_config.h"

namespace nereid::config {

/// What the reason for a completed value depends on.
struct CompletionContext {
  const ModelConfig& written;
  const ModelConfig& effective;
  const ModelFiles& files;
};

/// The description of a rule that derives a field from others ("derive.…") or gives it a default
/// ("default.…") if it is not set.
struct CompletionInfo {
  std::string_view rule;
  /// The field without list positions and map keys.
  std::string_view field;
  /// The rule as a sentence.
  std::string_view summary;
  /// Returns why the field has its value, in a few words.
  std::string (*reason)(const CompletionContext& context);
};

/// Returns all rules in the order in which they are applied.
std::vector<CompletionInfo> AllCompletions();

}  // namespace nereid::config
