// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/model_config.h"

namespace nereid::config {

/// Selects the sections of rules. A configuration is validated when its directory is read (an error
/// there hides the model) and again when a version is loaded, after the backend has completed it.
struct ValidateOptions {
  /// Check inputs, outputs, batch inputs and batch outputs.
  bool check_io = false;
  /// Check instance groups, which must have been completed.
  bool check_instance_groups = false;
  /// Check the initial values of sequence states, as far as this needs no files.
  bool check_sequence_states = false;
  /// Check warmup samples, as far as this needs no files. Loading a version does not need this:
  /// there the samples become requests, which are checked like all requests.
  bool check_warmup = false;
  /// The GPUs 0 to gpu_count - 1 exist.
  int gpu_count = 0;
  /// The compute capability that a GPU must have. Used in messages only.
  double min_compute_capability = 6.0;
  /// If not empty, the configuration must have the name of this directory.
  std::string directory_name;

  /// Returns the options for reading a directory. `strict` means that the backend will not complete
  /// the configuration.
  static ValidateOptions ForPoll(bool strict, std::string directory_name);
  /// Returns the options for loading a version.
  static ValidateOptions ForLoad(int gpu_count);
  /// Returns the options that select all sections.
  static ValidateOptions ForAll(int gpu_count, std::string directory_name);
};

/// Returns the first error in the configuration, with the rule's status code (mostly INVALID_ARG).
/// Warnings are ignored.
base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options);

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

/// Returns all rules in the order in which they are applied.
std::vector<RuleInfo> AllRules();

}  // namespace nereid::config
