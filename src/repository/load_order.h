// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "repository/model_id.h"

namespace nereid::repository {

/// The order in which models are loaded: members before the ensembles that call them, independent
/// models in parallel. Not thread-safe.
class LoadOrder {
 public:
  /// `members` has the models to load, each with the models that it calls. Members that are not
  /// among the models to load are not waited for.
  explicit LoadOrder(const std::map<ModelId, std::set<ModelId>>& members);

  /// Returns a model that may be loaded now; nothing while all remaining models wait for one that
  /// is being loaded. Ensembles that call each other are returned at the end: their load reports
  /// the cycle.
  std::optional<ModelId> Take();
  /// Records that the load of the model has ended, successfully or not.
  void Done(const ModelId& id);
  /// Returns whether Take has returned every model.
  bool IsEmpty() const { return ready_.empty() && waiting_.empty(); }

 private:
  std::set<ModelId> ready_;
  std::map<ModelId, size_t> waiting_;  // with the number of members that each waits for
  std::map<ModelId, std::vector<ModelId>> callers_;
  size_t loading_ = 0;
};

}  // namespace nereid::repository
