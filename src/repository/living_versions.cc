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
  std::lock_guard lock(mutex_);
  versions_.emplace(id, version);
}

void LivingVersions::Remove(const ModelId& id, int64_t version) {
  // Notified under the lock: the thread that waits may destroy this object as soon as the lock is
  // free.
  std::lock_guard lock(mutex_);
  versions_.erase(versions_.find({id, version}));
  removed_.notify_all();
}

LivingVersions::Versions LivingVersions::List() const {
  std::lock_guard lock(mutex_);
  return versions_;
}

size_t LivingVersions::Count() const {
  std::lock_guard lock(mutex_);
  return versions_.size();
}

std::vector<std::string> LivingVersions::WaitUntilGone(const std::function<bool()>& give_up) const {
  std::unique_lock lock(mutex_);
  while (!versions_.empty()) {
    lock.unlock();
    const bool enough = give_up();
    lock.lock();
    if (versions_.empty() || enough) break;
    removed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  std::vector<std::string> texts;
  for (const auto& [id, version] : versions_) texts.push_back(VersionText(id, version));
  return texts;
}

}  // namespace nereid::repository
