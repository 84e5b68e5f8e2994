// SPDX-License-Identifier: Apache-2.0
#include "server/predecessors.h"

#include <algorithm>
#include <utility>

namespace nereid::server {

Predecessors::Versions Predecessors::List() const {
  base::MutexLock lock(mutex_);
  return versions_;
}

void Predecessors::Exchange(Versions* versions) {
  versions_.swap(*versions);
  count_.store(versions_.size(), std::memory_order_release);
}

void Predecessors::Add(Versions replaced) {
  for (Version& known : List()) {
    const bool is_new = std::none_of(replaced.begin(), replaced.end(), [&](const Version& other) {
      return other.served == known.served;
    });
    if (is_new) replaced.push_back(std::move(known));
  }
  Versions too_many;
  if (replaced.size() > kMax) {
    too_many.assign(replaced.begin() + kMax, replaced.end());
    replaced.resize(kMax);
  }
  {
    base::MutexLock lock(mutex_);
    Exchange(&replaced);
  }
  for (const Version& version : too_many) version.model->EndIdleSequences();
}

std::shared_ptr<ServedModel> Predecessors::FindOwner(const request::CorrelationId& id,
                                                     int64_t version) const {
  for (Version& known : List()) {
    const bool is_reached = version < 0 || version == known.model->identity().version;
    if (is_reached && known.model->HasSequence(id)) return std::move(known.served);
  }
  return nullptr;
}

bool Predecessors::DropFinished() {
  Versions kept = List();
  const size_t count = kept.size();
  std::erase_if(kept,
                [](const Version& version) { return version.model->ListSequences(0).total == 0; });
  const bool is_left = !kept.empty();
  base::MutexLock lock(mutex_);
  // A version that was added meanwhile is looked at the next time.
  if (versions_.size() != count) return true;
  Exchange(&kept);
  lock.Unlock();  // before `kept` releases what was dropped
  return is_left;
}

void Predecessors::DropAll() {
  Versions dropped;
  {
    base::MutexLock lock(mutex_);
    Exchange(&dropped);
  }
  for (const Version& version : dropped) version.model->EndIdleSequences();
}

}  // namespace nereid::server
