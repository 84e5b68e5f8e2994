// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::repository {

/// A directory that holds a model.
struct ModelDirectory {
  std::string name;
  std::string path;
};

/// How repositories are read.
struct PollOptions {
  std::set<std::string> repositories;  // paths of directories
  bool strict_config = false;          // the backend will not complete configurations
  std::string config_name;             // configs/<name>.pbtxt is preferred where it exists
};

/// The sub-directories of all repositories, sorted by name. A name that several repositories have
/// is there several times. INTERNAL if a repository cannot be read.
base::Result<std::vector<ModelDirectory>> ScanRepositories(const std::set<std::string>& paths);

/// What the directory of one model says, before anything is loaded.
struct PolledModel {
  ModelDirectory directory;
  config::ModelConfigPtr config;  // completed from the files, normalised, validated
  std::vector<int64_t> versions;  // what the version policy selects of what is there; may be empty
  int64_t modified_ns = 0;        // the newest modification time below the directory
};

/// Reads and checks a model's directory. A failure hides the model: Triton calls it a poll failure.
base::Result<PolledModel> PollModel(const ModelDirectory& directory, const PollOptions& options);

/// The newest modification time of a directory and everything below it, nanoseconds since the
/// epoch; 0 if it cannot be read.
int64_t NewestModificationNs(const std::string& path);

}  // namespace nereid::repository
