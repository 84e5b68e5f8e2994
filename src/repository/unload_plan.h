// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "repository/ensemble_catalog.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// The models that an unload takes out of service.
struct UnloadPlan {
  std::set<ModelId> leaving;   // do not come back by themselves
  std::vector<ModelId> order;  // in which they, and the ensembles that call them, leave
};

/// Plans the unload of the models. The ensembles that call a model leave before it: a request is
/// refused before one of its steps fails. With `may_take_along`, members of an ensemble that leaves
/// go too if no other ensemble calls them and it returns true; without it (null), members stay.
UnloadPlan PlanUnload(const EnsembleCatalog& catalog, std::vector<ModelId> ids,
                      const std::function<bool(const ModelId&)>& may_take_along);

}  // namespace nereid::repository
