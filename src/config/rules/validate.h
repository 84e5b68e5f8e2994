// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/model_config.h"

namespace nereid::config {

/// Which sections are looked at. A configuration is validated when its directory is read (a failure
/// there hides the model) and again when a version is loaded and the backend has completed it.
struct ValidateOptions {
  /// Inputs, outputs, batch inputs and batch outputs.
  bool check_io = false;
  /// Instance groups; they must have been completed.
  bool check_instance_groups = false;
  /// The initial values of sequence states, as far as they do not need their files.
  bool check_sequence_states = false;
  /// The GPUs 0 to gpu_count - 1 exist.
  int gpu_count = 0;
  /// What a GPU must have to count; for the message only.
  double min_compute_capability = 6.0;
  /// Not empty: the configuration must be named like this directory.
  std::string directory_name;

  /// When the directory is read. `strict`: the backend will not complete the configuration.
  static ValidateOptions ForPoll(bool strict, std::string directory_name);
  /// When a version is loaded.
  static ValidateOptions ForLoad(int gpu_count);
};

/// INVALID_ARGUMENT with the text of the first rule that the configuration breaks.
base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options);

/// A row of the list of rules.
struct RuleInfo {
  std::string_view id;
  /// The part of the configuration that the rule is about.
  std::string_view field;
};

/// All rules, in the order in which they are applied.
std::vector<RuleInfo> AllRules();

}  // namespace nereid::config
