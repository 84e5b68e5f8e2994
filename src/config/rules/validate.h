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
  /// Warmup samples, as far as they do not need their files. Loading a version does without: there
  /// the samples become requests, and those are checked.
  bool check_warmup = false;
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
  /// Everything that either looks at.
  static ValidateOptions ForAll(int gpu_count, std::string directory_name);
};

/// The text of the first rule that the configuration breaks (INVALID_ARGUMENT, or the rule's own
/// code). Warnings do not count.
base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options);

/// What breaking a rule does.
enum class Severity {
  /// The model is not loaded.
  kError,
  /// The setting cannot do what it looks like; the model loads.
  kWarning,
};

/// "error", "warning".
std::string_view SeverityName(Severity severity);

/// When a rule is applied, which decides what a client learns of a violation.
enum class Stage {
  /// When the directory is read: a load request fails with "failed to poll from model repository",
  /// and the reason is in the log.
  kPoll,
  /// When a version is loaded: the answer and the repository index tell the reason. With
  /// auto-completion disabled already when the directory is read.
  kLoadOrStrictPoll,
  /// When a version is loaded.
  kLoad,
};

/// A row of the list of rules: everything a document or a command says of a rule.
struct RuleInfo {
  std::string_view id;
  /// The parts of the configuration that the rule is about, without positions in lists, separated
  /// by ", "; "*" for any. The rules "tensor.…" name inputs and hold for outputs as well.
  std::string_view field;
  /// The rule as a sentence.
  std::string_view summary;
  /// What is expected, in a few words.
  std::string_view expected;
  /// How to mend a violation, as a sentence in the imperative.
  std::string_view remedy;
  Severity severity = Severity::kError;
  Stage stage = Stage::kPoll;
  /// Of the failure.
  base::StatusCode code = base::StatusCode::kInvalidArgument;
};

/// All rules, in the order in which they are applied.
std::vector<RuleInfo> AllRules();

}  // namespace nereid::config
