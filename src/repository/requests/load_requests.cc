// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/load_requests.h"

#include <chrono>
#include <utility>

namespace nereid::repository {

using base::Status;

std::shared_ptr<LoadRequests::Group> LoadRequests::Join(const std::string& model,
                                                        Overrides overrides) {
  std::shared_ptr<Group>& waiting = models_[model].waiting;
  if (waiting == nullptr) waiting = std::make_shared<Group>();
  ++waiting->clients;
  // A request without overrides keeps those of the model, and so those of the requests before it.
  if (overrides != nullptr) waiting->overrides = std::move(overrides);
  return waiting;
}

void LoadRequests::ForgetIfIdle(const std::string& model) {
  const auto found = models_.find(model);
  if (found == models_.end()) return;
  if (!found->second.is_loading && found->second.waiting == nullptr) models_.erase(found);
}

void LoadRequests::Leave(const std::string& model, const std::shared_ptr<Group>& group) {
  if (--group->clients > 0) return;
  const auto found = models_.find(model);
  if (found != models_.end() && found->second.waiting == group) found->second.waiting = nullptr;
  ForgetIfIdle(model);
}

void LoadRequests::Finish(Group* group, Status result) {
  group->result = std::move(result);
  group->is_done = true;
  changed_.NotifyAll();
}

Status LoadRequests::Load(const std::string& model, Overrides overrides,
                          const std::function<bool()>& is_abandoned, const Execute& execute) {
  base::MutexLock lock(mutex_);
  const std::shared_ptr<Group> group = Join(model, std::move(overrides));
  while (!group->is_done) {
    Model& state = models_[model];
    if (state.waiting == group && !state.is_loading) {
      state.is_loading = true;
      state.waiting = nullptr;
      const Overrides chosen = group->overrides;
      lock.Unlock();
      Status result = execute(chosen, [&] {
        if (!is_abandoned || !is_abandoned()) return false;
        base::MutexLock counting(mutex_);
        return group->clients == 1;  // this one
      });
      lock.Lock();
      models_[model].is_loading = false;
      Finish(group.get(), std::move(result));
      break;
    }
    changed_.WaitFor(lock, std::chrono::milliseconds(100));
    if (group->is_done) break;
    lock.Unlock();
    const bool is_gone = is_abandoned && is_abandoned();
    lock.Lock();
    if (!is_gone || group->is_done) continue;
    Leave(model, group);
    return Status::Cancelled("the client went away before the load began");
  }
  Leave(model, group);
  return group->result;
}

size_t LoadRequests::CancelWaiting(const std::string& model) {
  base::MutexLock lock(mutex_);
  const auto found = models_.find(model);
  if (found == models_.end() || found->second.waiting == nullptr) return 0;
  const std::shared_ptr<Group> group = std::exchange(found->second.waiting, nullptr);
  Finish(group.get(), Status::Cancelled("the load of model '" + model + "' was cancelled"));
  ForgetIfIdle(model);
  return group->clients;
}

size_t LoadRequests::CountWaiting(const std::string& model) const {
  base::MutexLock lock(mutex_);
  const auto found = models_.find(model);
  if (found == models_.end() || found->second.waiting == nullptr) return 0;
  return found->second.waiting->clients;
}

}  // namespace nereid::repository
