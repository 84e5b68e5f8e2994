// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "repository/load_overrides.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// A model to be loaded.
struct LoadJob {
  ModelDirectory directory;
  std::shared_ptr<const LoadOverrides> overrides = nullptr;  // null: none
  std::set<std::string> members = {};  // the models that its configuration calls, by name
  bool is_wanted = false;              // loaded for itself, not for an ensemble
  bool again = false;                  // loaded although its files have not changed

  /// Returns the overrides, or empty ones.
  const LoadOverrides& Overrides() const;
};

using LoadJobs = std::map<ModelId, LoadJob>;

/// What a load that succeeded has done.
enum class LoadOutcome {
  kUnchanged,  // nothing: the model serves, and its files are as they were
  kUpdated,    // the versions that serve go on, with other instances
  kAnew,       // at least one version is a new object
};

/// The outcome of loading many models.
struct LoadReport {
  std::map<std::string, base::Status> failures;    // by model, as messages name it
  std::map<std::string, base::Status> unreadable;  // by path, the repositories that gave no list
};

/// Returns for each model the other models of `jobs` that are loaded before it: its members. A
/// member's name means the model of the same namespace, or else every model of that name, because
/// which one it is shows only when they are loaded.
std::map<ModelId, std::set<ModelId>> MembersToAwait(const LoadJobs& jobs);

}  // namespace nereid::repository
