// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "config/model_config.h"
#include "repository/model_poll.h"

namespace nereid::server {

/// What the files of a model say about it before it is loaded.
struct ModelFacts {
  uint64_t file_bytes = 0;  // of the versions that the policy selects; 0 for a remote model
  bool is_pinned = false;   // the model parameter memory_pinned
  std::set<std::string> members = {};   // the models that an ensemble calls
  std::set<int64_t> versions = {};      // that the policy selects; empty for a remote model
  config::ModelConfigPtr written = {};  // null if there is no configuration that can be read
};

/// Reads the facts of a model's directory, or of the overrides that replace its configuration.
/// Files that cannot be read are left out: the load will report them.
ModelFacts ReadModelFacts(const repository::ModelDirectory& directory,
                          const repository::PollOptions& options,
                          const repository::LoadOverrides& overrides = {});

/// Returns the bytes of all files in a directory and below it; 0 if it cannot be read.
uint64_t DirectoryBytes(const std::string& directory);

}  // namespace nereid::server
