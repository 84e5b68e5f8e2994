// SPDX-License-Identifier: Apache-2.0
#include "repository/living_versions.h"

#include <chrono>

namespace nereid::repository {

LivingVersions::Entry::Entry(LivingVersions& list, ModelId id, int64_t version)
    : list_(&list), id_(std::move(id)), version_(version) {
  list.Add(id_, version_);
}

void LivingVersions::Entry::End() {
  LivingVersions* const list = list_.exchange(nullptr, std::memory_order_acq_rel);
  if (list != nullptr) list->Remove(id_, version_);
}

void LivingVersions::Add(const ModelId& id, int64_t version) {
  base::MutexLock lock(mutex_);
  versions_.emplace(id, version);
}

void LivingVersions::Remove(const ModelId& id, int64_t version) {
  // Notifies under the lock: the waiting thread may destroy this object as soon as the lock is
  // free.
  base::MutexLock lock(mutex_);
  versions_.erase(versions_.find({id, version}));
  removed_.NotifyAll();
}

LivingVersions::Versions LivingVersions::List() const {
  base::MutexLock lock(mutex_);
  return versions_;
}

size_t LivingVersions::Count() const {
  base::MutexLock lock(mutex_);
  return versions_.size();
}

std::vector<std::string> LivingVersions::WaitUntilGone(const std::function<bool()>& give_up) const {
  base::MutexLock lock(mutex_);
  while (!versions_.empty()) {
    lock.Unlock();
    const bool enough = give_up();
    lock.Lock();
    if (versions_.empty() || enough) break;
    removed_.WaitFor(lock, std::chrono::milliseconds(100));
  }
  std::vector<std::string> texts;
  for (const auto& [id, version] : versions_) texts.push_back(VersionText(id, version));
  return texts;
}

}  // namespace nereid::repository
