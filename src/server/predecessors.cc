// SPDX-License-Identifier: Apache-2.0
#include "server/predecessors.h"

#include <algorithm>
#include <utility>

#include "server/served_model.h"

namespace nereid::server {

Predecessors::Models Predecessors::List() const {
  base::MutexLock lock(mutex_);
  return models_;
}

void Predecessors::Exchange(Models* models) {
  models_.swap(*models);
  count_.store(models_.size(), std::memory_order_release);
}

void Predecessors::Add(Models replaced) {
  for (std::shared_ptr<ServedModel>& known : List()) {
    const bool is_new = std::find(replaced.begin(), replaced.end(), known) == replaced.end();
    if (is_new) replaced.push_back(std::move(known));
  }
  Models too_many;
  if (replaced.size() > kMax) {
    too_many.assign(replaced.begin() + kMax, replaced.end());
    replaced.resize(kMax);
  }
  {
    base::MutexLock lock(mutex_);
    Exchange(&replaced);
  }
  for (const auto& model : too_many) model->version().EndIdleSequences();
}

std::shared_ptr<ServedModel> Predecessors::FindOwner(const request::CorrelationId& id,
                                                     int64_t version) const {
  for (std::shared_ptr<ServedModel>& model : List()) {
    const bool is_reached = version < 0 || version == model->identity().version;
    if (is_reached && model->version().HasSequence(id)) return std::move(model);
  }
  return nullptr;
}

bool Predecessors::DropFinished() {
  Models kept = List();
  const size_t count = kept.size();
  std::erase_if(kept, [](const auto& model) { return model->LiveSequences() == 0; });
  const bool is_left = !kept.empty();
  base::MutexLock lock(mutex_);
  // A version that was added meanwhile is looked at the next time.
  if (models_.size() != count) return true;
  Exchange(&kept);
  lock.Unlock();  // before `kept` releases what was dropped
  return is_left;
}

void Predecessors::DropAll() {
  Models dropped;
  {
    base::MutexLock lock(mutex_);
    Exchange(&dropped);
  }
  for (const auto& model : dropped) model->version().EndIdleSequences();
}

}  // namespace nereid::server
