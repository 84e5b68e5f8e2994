// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repository/file_state.h"

namespace nereid::repository {

/// What the repositories held at a moment.
struct RepositorySnapshot {
  struct Model {
    std::string path;
    FileState files;
    bool operator==(const Model&) const = default;
  };
  std::map<std::string, Model> models;  // by name; names that are there twice are left out
};

/// The names of models, each in the order of the alphabet.
struct SnapshotDifference {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
};

/// A model that moved to another repository has changed. A renamed one is removed and added.
SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now);

}  // namespace nereid::repository
