// SPDX-License-Identifier: Apache-2.0
#include "repository/load_order.h"

#include <utility>

namespace nereid::repository {

LoadOrder::LoadOrder(const std::map<ModelId, std::set<ModelId>>& members) {
  for (const auto& [id, called] : members) {
    size_t awaited = 0;
    for (const ModelId& member : called) {
      if (!members.contains(member)) continue;
      callers_[member].push_back(id);
      ++awaited;
    }
    if (awaited == 0) {
      ready_.insert(ready_.end(), id);
    } else {
      waiting_.emplace_hint(waiting_.end(), id, awaited);
    }
  }
}

std::optional<ModelId> LoadOrder::Take() {
  // No load is running that could change this: the models call each other in a cycle.
  if (ready_.empty() && loading_ == 0 && !waiting_.empty()) {
    ready_.insert(waiting_.begin()->first);
    waiting_.erase(waiting_.begin());
  }
  if (ready_.empty()) return std::nullopt;
  ModelId id = std::move(ready_.extract(ready_.begin()).value());
  ++loading_;
  return id;
}

void LoadOrder::Done(const ModelId& id) {
  --loading_;
  const auto callers = callers_.find(id);
  if (callers == callers_.end()) return;
  for (const ModelId& caller : callers->second) {
    const auto waiting = waiting_.find(caller);
    if (waiting == waiting_.end() || --waiting->second > 0) continue;
    ready_.insert(caller);
    waiting_.erase(waiting);
  }
}

}  // namespace nereid::repository
