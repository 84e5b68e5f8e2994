// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "config/model_config.h"
#include "repository/file_state.h"

namespace nereid::repository {

struct LoadOverrides;

/// The configuration and files that a model was loaded from.
struct LoadBasis {
  config::ModelConfigPtr config;  // as read and completed by PollModel
  bool configured = true;         // false if neither a file nor an override configures it
  FileState files;
  /// The files came with the load request or were moved by an agent, so they do not show whether
  /// the repository's files have changed.
  bool staged = false;
  /// The overrides of the load request, without the contents of files; null: none.
  std::shared_ptr<const LoadOverrides> overrides = nullptr;
};

enum class VersionAction {
  kLoad,    // load it from its files
  kUpdate,  // keep the version that serves, with changed instances
};

/// Returns the action for each version of `selected` that leads from the basis `before` to `now`.
/// The versions in `ready` serve. Such a version is updated if its files are unchanged and the
/// configurations differ only in instance groups and version policies.
std::map<int64_t, VersionAction> PlanVersions(const LoadBasis& before, const LoadBasis& now,
                                              const std::set<int64_t>& ready,
                                              const std::vector<int64_t>& selected);

}  // namespace nereid::repository
