// SPDX-License-Identifier: Apache-2.0
#include "schedule/limits/resource_permits.h"

#include <algorithm>
#include <utility>

namespace nereid::schedule {
namespace {

/// Whose OnPermit calls this thread is making now.
thread_local const ResourcePermits* delivering_here = nullptr;

}  // namespace

ResourcePermits::Registration::Registration(Registration&& other) noexcept
    : permits_(std::exchange(other.permits_, nullptr)), instance_(other.instance_) {}

ResourcePermits::Registration& ResourcePermits::Registration::operator=(
    Registration&& other) noexcept {
  std::swap(permits_, other.permits_);
  std::swap(instance_, other.instance_);
  return *this;
}

ResourcePermits::Registration::~Registration() {
  if (permits_ != nullptr) permits_->Unregister(instance_);
}

base::Result<ResourcePermits::Registration> ResourcePermits::Register(BatchRunner* instance,
                                                                      LimitedInstance description) {
  std::lock_guard lock(mutex_);
  NEREID_ASSIGN_OR_RETURN(const auto ids, limiter_.Register({std::move(description)}));
  members_[ids.front()].instance = instance;
  ids_[instance] = ids.front();
  // A larger capacity may let in nobody new: whoever is first in line fitted before, or waits for
  // what is in use, and then a Release will follow.
  return Registration(this, instance);
}

void ResourcePermits::Unregister(BatchRunner* instance) {
  Withdraw({&instance, 1});
  {
    std::lock_guard lock(mutex_);
    const auto found = ids_.find(instance);
    limiter_.Unregister(found->second);
    members_.erase(found->second);
    ids_.erase(found);
    GrantLocked();
  }
  Deliver();
}

BatchRunner* ResourcePermits::TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) {
  std::lock_guard lock(mutex_);
  std::vector<InstanceId> available;
  for (BatchRunner* const instance : idle) {
    const auto found = ids_.find(instance);
    // Nobody has said what it needs: it needs nothing.
    if (found == ids_.end()) return instance;
    const InstanceId id = found->second;
    if (!limiter_.IsAvailable(id)) {
      // One of the model stands in line already, or is just being told that its turn has come, or
      // had a permit of no use, which is not back yet: without a word then, the work that the
      // scheduler has meanwhile got would wait for ever.
      members_[id].waiter = &waiter;
      return nullptr;
    }
    available.push_back(id);
  }
  if (available.empty()) return nullptr;
  const InstanceId chosen = limiter_.Choose(available);
  limiter_.Stage(chosen);
  // Others come first where something has been released and not given out yet. Whoever released it
  // will tell them.
  GrantLocked();
  if (std::erase(granted_, chosen) > 0) return members_[chosen].instance;
  members_[chosen].waiter = &waiter;
  return nullptr;
}

void ResourcePermits::Release(BatchRunner* instance, bool executed) {
  std::lock_guard lock(mutex_);
  const auto found = ids_.find(instance);
  if (found == ids_.end()) return;
  limiter_.Release(found->second, executed);
  if (members_[found->second].waiter != nullptr) limiter_.Stage(found->second);
}

void ResourcePermits::Settle() {
  {
    std::lock_guard lock(mutex_);
    GrantLocked();
  }
  Deliver();
}

void ResourcePermits::Withdraw(std::span<BatchRunner* const> instances) {
  std::unique_lock lock(mutex_);
  for (BatchRunner* const instance : instances) {
    const auto found = ids_.find(instance);
    if (found == ids_.end()) continue;
    const InstanceId id = found->second;
    if (std::erase(granted_, id) > 0) {
      limiter_.Release(id, false);
    } else {
      limiter_.Withdraw(id);
    }
    delivered_.wait(lock, [&] { return !delivering_.contains(id); });
    members_[id].waiter = nullptr;
  }
  GrantLocked();
  lock.unlock();
  Deliver();
}

void ResourcePermits::GrantLocked() {
  while (const auto id = limiter_.Grant()) granted_.push_back(*id);
}

void ResourcePermits::Deliver() {
  if (delivering_here == this) return;
  const ResourcePermits* const outer = std::exchange(delivering_here, this);
  std::unique_lock lock(mutex_);
  while (!granted_.empty()) {
    const InstanceId id = granted_.front();
    granted_.pop_front();
    Member& member = members_[id];
    // From here on the model may put another instance, or this one again, into the line.
    Waiter& waiter = *std::exchange(member.waiter, nullptr);
    delivering_.insert(id);
    lock.unlock();
    waiter.OnPermit(member.instance);
    lock.lock();
    delivering_.erase(delivering_.find(id));
    delivered_.notify_all();
  }
  delivering_here = outer;
}

}  // namespace nereid::schedule
