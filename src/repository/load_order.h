// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>

#include "repository/model_id.h"

namespace nereid::repository {

/// In which order models are loaded: members before the ensembles that call them, and whatever is
/// independent side by side. Not thread-safe.
class LoadOrder {
 public:
  /// The models to be loaded, with the members that they call. Members that are not to be loaded
  /// themselves are not waited for.
  explicit LoadOrder(std::map<ModelId, std::set<ModelId>> members);

  /// A model that may be loaded now; nothing while all that is left waits for one that is being
  /// loaded. Ensembles that wait for each other are given out in the end all the same: what is
  /// wrong with them is for their load to say.
  std::optional<ModelId> Take();
  /// The model has been loaded, or has failed.
  void Done(const ModelId& id);
  /// Whether every model has been given out.
  bool IsEmpty() const { return waiting_.empty(); }

 private:
  std::map<ModelId, std::set<ModelId>> waiting_;  // with what each still waits for
  size_t loading_ = 0;
};

}  // namespace nereid::repository
