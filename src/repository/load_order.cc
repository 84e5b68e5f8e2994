// SPDX-License-Identifier: Apache-2.0
#include "repository/load_order.h"

#include <algorithm>

namespace nereid::repository {

LoadOrder::LoadOrder(std::map<std::string, std::set<std::string>> members)
    : waiting_(std::move(members)) {
  for (auto& [name, awaited] : waiting_) {
    std::erase_if(awaited,
                  [this](const std::string& member) { return !waiting_.contains(member); });
  }
}

std::optional<std::string> LoadOrder::Take() {
  auto next = std::find_if(waiting_.begin(), waiting_.end(),
                           [](const auto& entry) { return entry.second.empty(); });
  // Nothing runs that could change that: a circle.
  if (next == waiting_.end() && loading_ == 0) next = waiting_.begin();
  if (next == waiting_.end()) return std::nullopt;
  std::string name = next->first;
  waiting_.erase(next);
  ++loading_;
  return name;
}

void LoadOrder::Done(const std::string& name) {
  --loading_;
  for (auto& [waiting, awaited] : waiting_) awaited.erase(name);
}

}  // namespace nereid::repository
