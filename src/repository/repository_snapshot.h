// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repository/file_state.h"
#include "repository/model_id.h"

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

}  // namespace nereid::repository
