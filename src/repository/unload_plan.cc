// SPDX-License-Identifier: Apache-2.0
#include "repository/unload_plan.h"

#include <utility>

namespace nereid::repository {

UnloadPlan PlanUnload(const EnsembleCatalog& catalog, std::vector<ModelId> ids,
                      const std::function<bool(const ModelId&)>& may_take_along) {
  UnloadPlan plan;
  // `ids` grows during the loop: unloaded members may be ensembles with members of their own.
  for (size_t i = 0; i < ids.size(); ++i) {
    const ModelId id = ids[i];
    if (!plan.leaving.insert(id).second) continue;
    for (ModelId& caller : catalog.CallersOf(id)) {
      if (!plan.leaving.contains(caller)) plan.order.push_back(std::move(caller));
    }
    plan.order.push_back(id);
    const KnownEnsemble* ensemble = catalog.Find(id);
    if (may_take_along == nullptr || ensemble == nullptr) continue;
    for (const auto& [name, member] : ensemble->members) {
      if (!member || catalog.IsCalled(*member, plan.leaving)) continue;
      if (may_take_along(*member)) ids.push_back(*member);
    }
  }
  return plan;
}

}  // namespace nereid::repository
