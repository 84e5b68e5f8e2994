// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "repository/ensemble_catalog.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// The models that an unload retires.
struct UnloadPlan {
  std::set<ModelId> leaving;   // unloaded: nothing loads them again by itself
  std::vector<ModelId> order;  // the order of retirement, with the ensembles that call them
};

/// Plans the unload of the models. Ensembles that call a model are retired before it, so a request
/// is refused at its start and does not fail in a step. A member of an unloaded ensemble is
/// unloaded too if no other ensemble calls it and `may_take_along` returns true; with null, members
/// stay.
UnloadPlan PlanUnload(const EnsembleCatalog& catalog, std::vector<ModelId> ids,
                      const std::function<bool(const ModelId&)>& may_take_along);

}  // namespace nereid::repository
