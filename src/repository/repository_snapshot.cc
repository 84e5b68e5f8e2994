// SPDX-License-Identifier: Apache-2.0
#include "repository/repository_snapshot.h"

namespace nereid::repository {

SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now) {
  SnapshotDifference difference;
  for (const auto& [name, model] : before.models) {
    if (!now.models.contains(name)) difference.removed.push_back(name);
  }
  for (const auto& [name, model] : now.models) {
    const auto found = before.models.find(name);
    if (found == before.models.end()) {
      difference.added.push_back(name);
    } else if (!(found->second == model)) {
      difference.changed.push_back(name);
    }
  }
  return difference;
}

}  // namespace nereid::repository
