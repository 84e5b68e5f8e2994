// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  /// The GPUs that can be used, by their numbers.
  std::vector<int32_t> gpus;
  /// The compute capability that a GPU must have. Used in messages only.
  double min_compute_capability = 6.0;
  /// If not empty, the configuration must have the name of this directory.
  std::string directory_name;

  /// Returns the options for reading a directory. `strict` means that the backend will not complete
  /// the configuration.
  static ValidateOptions ForPoll(bool strict, std::string directory_name);
  /// Returns the options for loading a version where these GPUs can be used.
  static ValidateOptions ForLoad(std::vector<int32_t> gpus);
  /// Returns the options for loading a version where the GPUs 0 to gpu_count - 1 can be used.
  static ValidateOptions ForLoad(int gpu_count);
  /// Returns the options that select all sections.
  static ValidateOptions ForAll(std::vector<int32_t> gpus, std::string directory_name);
  static ValidateOptions ForAll(int gpu_count, std::string directory_name);
};

}  // namespace nereid::config
