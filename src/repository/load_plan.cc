// SPDX-License-Identifier: Apache-2.0
#include "repository/load_plan.h"

#include "config/instance_difference.h"

namespace nereid::repository {

std::map<int64_t, VersionAction> PlanVersions(const LoadBasis& before, const LoadBasis& now,
                                              const std::set<int64_t>& ready,
                                              const std::vector<int64_t>& selected) {
  const bool may_update = before.config != nullptr && !before.staged && !now.staged &&
                          !now.config->is_ensemble() &&
                          config::SameButForInstances(*before.config, *now.config);
  std::map<int64_t, VersionAction> plan;
  for (const int64_t version : selected) {
    const bool update =
        may_update && ready.contains(version) && VersionUnchanged(before.files, now.files, version);
    plan[version] = update ? VersionAction::kUpdate : VersionAction::kLoad;
  }
  return plan;
}

}  // namespace nereid::repository
