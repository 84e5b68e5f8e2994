// SPDX-License-Identifier: Apache-2.0
#include "server/residency/known_models.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nereid::server {

bool KnownModel::MayHave(int64_t version) const {
  const std::vector<int64_t> versions = Versions();
  if (version < 0 || versions.empty()) return true;
  return std::find(versions.begin(), versions.end(), version) != versions.end();
}

config::ModelConfigPtr KnownModel::ConfigOf(int64_t version) const {
  if (!served.empty()) {
    const auto found = version < 0 ? std::prev(served.end()) : served.find(version);
    return found == served.end() ? nullptr : found->second;
  }
  return MayHave(version) ? facts.written : nullptr;
}

std::vector<int64_t> KnownModel::Versions() const {
  std::vector<int64_t> versions;
  for (const auto& [version, config] : served) versions.push_back(version);
  if (versions.empty()) versions.assign(facts.versions.begin(), facts.versions.end());
  return versions;
}

KnownModels::ModelPtr KnownModels::Find(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = models_.find(name);
  return found == models_.end() ? nullptr : found->second;
}

std::shared_ptr<ModelGate> KnownModels::FindGate(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = models_.find(name);
  return found == models_.end() ? nullptr : found->second->gate;
}

void KnownModels::Set(const std::string& name, KnownModel model) {
  const base::MutexLock lock(mutex_);
  ModelPtr& mine = models_[name];
  model.gate = mine == nullptr ? std::make_shared<ModelGate>() : mine->gate;
  mine = std::make_shared<const KnownModel>(std::move(model));
}

void KnownModels::Change(const std::string& name, const std::function<void(KnownModel&)>& change) {
  const base::MutexLock lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  KnownModel changed = *found->second;
  change(changed);
  found->second = std::make_shared<const KnownModel>(std::move(changed));
}

void KnownModels::Remove(const std::string& name) {
  const base::MutexLock lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  removed_hits_ += found->second->gate->hits();
  models_.erase(found);
}

void KnownModels::Visit(
    const std::function<void(const std::string&, const KnownModel&)>& visit) const {
  const base::MutexLock lock(mutex_);
  for (const auto& [name, model] : models_) visit(name, *model);
}

uint64_t KnownModels::Hits() const {
  const base::MutexLock lock(mutex_);
  uint64_t hits = removed_hits_;
  for (const auto& [name, model] : models_) hits += model->gate->hits();
  return hits;
}

}  // namespace nereid::server
