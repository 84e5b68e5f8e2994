// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/file_state.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// The models of the repositories at one moment.
struct RepositorySnapshot {
  struct Model {
    std::string path;
    FileState files;
    std::string repository = {};
    bool operator==(const Model&) const = default;
  };
  std::map<ModelId, Model> models;  // without ids that several directories have
};

/// The difference between two snapshots. Each list is sorted by name.
struct SnapshotDifference {
  std::vector<ModelId> added;
  std::vector<ModelId> removed;
  std::vector<ModelId> changed;
};

/// Compares two snapshots. A model that moved to another repository is changed. A renamed model is
/// removed and added.
SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now);

/// A new snapshot with its directories and failures.
struct SnapshotReading {
  RepositorySnapshot snapshot;
  std::map<ModelId, ModelDirectory> directories;  // of the models that could be read
  std::map<std::string, base::Status> failures;   // by model, as messages name it
};

/// Reads the file states of the directories of a scan. Models that cannot be read (because of their
/// own directory or the list of their repository) keep the state of `before`. A model id of several
/// directories is a failure and is not in the snapshot. Blocks while the file systems are read, on
/// up to `threads` threads at a time.
SnapshotReading ReadSnapshot(const RepositoryScan& scan, const RepositorySnapshot& before,
                             bool namespacing, RepositoryStorage& storage, size_t threads = 1);

}  // namespace nereid::repository
