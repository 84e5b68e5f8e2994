// SPDX-License-Identifier: Apache-2.0
#include "repository/repository_snapshot.h"

namespace nereid::repository {

SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now) {
  SnapshotDifference difference;
  for (const auto& [id, model] : before.models) {
    if (!now.models.contains(id)) difference.removed.push_back(id);
  }
  for (const auto& [id, model] : now.models) {
    const auto found = before.models.find(id);
    if (found == before.models.end()) {
      difference.added.push_back(id);
    } else if (!(found->second == model)) {
      difference.changed.push_back(id);
    }
  }
  return difference;
}

}  // namespace nereid::repository
