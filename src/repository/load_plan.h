// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "config/model_config.h"
#include "repository/file_state.h"

namespace nereid::repository {

/// What a model was loaded from.
struct LoadBasis {
  config::ModelConfigPtr config;  // as polled
  bool configured = true;         // false: neither a file nor an override configures it
  FileState files;
  /// The files are the model's own (given with the load, or moved by an agent) and say nothing of
  /// the repository's.
  bool staged = false;
};

enum class VersionAction {
  kLoad,    // from its files
  kUpdate,  // the one that serves goes on, with other instances
};

/// What is to be done for each version of `selected`, of which those of `ready` serve, to get from
/// one basis to the other. A version goes on if its files are unchanged and the configurations
/// differ in nothing but instance groups and version policies.
std::map<int64_t, VersionAction> PlanVersions(const LoadBasis& before, const LoadBasis& now,
                                              const std::set<int64_t>& ready,
                                              const std::vector<int64_t>& selected);

}  // namespace nereid::repository
