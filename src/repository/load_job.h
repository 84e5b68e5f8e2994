// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "repository/file_state.h"
#include "repository/load_overrides.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/settle/tree_marks.h"

namespace nereid::repository {

/// A model to load.
struct LoadJob {
  ModelDirectory directory;
  std::shared_ptr<const LoadOverrides> overrides = nullptr;  // null: none
  std::set<std::string> members = {};  // the models that its configuration calls, by name
  bool is_wanted = false;              // requested itself, not only as a member of an ensemble
  bool again = false;                  // load it even if its files have not changed
  bool is_found = false;               // a scan has found the directory; nobody has asked for it
  /// The marks of its files with which a scan accepted them; null if no scan did.
  std::shared_ptr<const TreeMarks> accepted = nullptr;
  /// The state of its files that this scan read before the marks; null if there is no `accepted`.
  std::shared_ptr<const FileState> scanned = nullptr;

  /// Returns the overrides, or empty ones.
  const LoadOverrides& Overrides() const;
};

using LoadJobs = std::map<ModelId, LoadJob>;

/// The effect of a load without an error.
enum class LoadOutcome {
  kUnchanged,  // none: the model serves, and its files have not changed
  kUpdated,    // the versions that serve continue with changed instances
  kAnew,       // at least one version is a new object
  kTorn,       // none: the files were changed while they were read
  kNoModel,    // none: a scan has found a directory that holds no model
};

/// The outcome of loading many models.
struct LoadReport {
  std::map<std::string, base::Status> failures;    // by model, as messages name it
  std::map<std::string, base::Status> unreadable;  // by path, repositories that cannot be listed
  std::set<ModelId> torn;  // those of the failures whose files were changed while they were read
  /// Of a scan, by model as messages name it: those that are left out because they differ from
  /// their lists of checksums.
  std::map<std::string, base::Status> incomplete;
  /// Of a scan: when the next one may complete a change that this one has left; nothing if it has
  /// left none. On the clock of the settle options.
  std::optional<uint64_t> next_scan_ns;
};

/// Returns for each model its members in `jobs`, which are loaded before it. A member's name refers
/// to the model of the same namespace. If there is none, it refers to every model of that name,
/// because the name is resolved only after they are loaded.
std::map<ModelId, std::set<ModelId>> MembersToAwait(const LoadJobs& jobs);

}  // namespace nereid::repository
