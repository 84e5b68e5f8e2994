// SPDX-License-Identifier: Apache-2.0
#include "repository/load_order.h"

#include <algorithm>

namespace nereid::repository {

LoadOrder::LoadOrder(std::map<ModelId, std::set<ModelId>> members) : waiting_(std::move(members)) {
  for (auto& [id, awaited] : waiting_) {
    std::erase_if(awaited, [this](const ModelId& member) { return !waiting_.contains(member); });
  }
}

std::optional<ModelId> LoadOrder::Take() {
  auto next = std::find_if(waiting_.begin(), waiting_.end(),
                           [](const auto& entry) { return entry.second.empty(); });
  // No load is running that could change this: the models call each other in a cycle.
  if (next == waiting_.end() && loading_ == 0) next = waiting_.begin();
  if (next == waiting_.end()) return std::nullopt;
  ModelId id = next->first;
  waiting_.erase(next);
  ++loading_;
  return id;
}

void LoadOrder::Done(const ModelId& id) {
  --loading_;
  for (auto& [waiting, awaited] : waiting_) awaited.erase(id);
}

}  // namespace nereid::repository
