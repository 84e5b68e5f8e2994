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

/// What the repositories held at a moment.
struct RepositorySnapshot {
  struct Model {
    std::string path;
    FileState files;
    std::string repository = {};
    bool operator==(const Model&) const = default;
  };
  std::map<ModelId, Model> models;  // those that are there twice are left out
};

/// Models, each list in the order of their names.
struct SnapshotDifference {
  std::vector<ModelId> added;
  std::vector<ModelId> removed;
  std::vector<ModelId> changed;
};

/// A model that moved to another repository has changed. A renamed one is removed and added.
SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now);

/// A new snapshot, and what was found on the way.
struct SnapshotReading {
  RepositorySnapshot snapshot;
  std::map<ModelId, ModelDirectory> directories;  // of the models that could be read
  std::map<std::string, base::Status> failures;   // by model, as messages name it
};

/// Reads the file states of the directories that a scan found. What cannot be read stays as it was
/// `before`: the models of a repository that gives no list, and a model whose own directory cannot
/// be read. A name that several directories mean is a failure, and is in no snapshot. Blocks for as
/// long as the file systems take.
SnapshotReading ReadSnapshot(const RepositoryScan& scan, const RepositorySnapshot& before,
                             bool namespacing);

}  // namespace nereid::repository
