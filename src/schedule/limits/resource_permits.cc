// SPDX-License-Identifier: Apache-2.0
#include "schedule/limits/resource_permits.h"

#include <algorithm>
#include <utility>

namespace nereid::schedule {

using base::MutexLock;

namespace {

/// The ResourcePermits whose Deliver is running on this thread, if any.
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
  MutexLock lock(mutex_);
  NEREID_ASSIGN_OR_RETURN(const auto ids, limiter_.Register({std::move(description)}));
  members_[ids.front()].instance = instance;
  ids_[instance] = ids.front();
  // No Settle is needed, although a capacity may have grown: the first staged instance fitted
  // before, or waits for resources in use, whose Release will be followed by a Settle.
  return Registration(this, instance);
}

void ResourcePermits::Unregister(BatchRunner* instance) {
  Withdraw({&instance, 1});
  {
    MutexLock lock(mutex_);
    const auto found = ids_.find(instance);
    limiter_.Unregister(found->second);
    members_.erase(found->second);
    ids_.erase(found);
    // The instance may have held resources, or have been the first staged one.
    Grant();
  }
  Deliver();
}

BatchRunner* ResourcePermits::TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) {
  MutexLock lock(mutex_);
  std::vector<InstanceId> available;
  for (BatchRunner* const instance : idle) {
    const auto found = ids_.find(instance);
    // An instance that was not registered needs nothing.
    if (found == ids_.end()) return instance;
    const InstanceId id = found->second;
    if (!limiter_.IsAvailable(id)) {
      // An instance of the model is staged already, or its OnPermit is about to be called, or it
      // had a permit without work that is not returned yet. In the last cases the model has got
      // work meanwhile, so the waiter is recorded: Release stages the instance again.
      members_[id].waiter = &waiter;
      return nullptr;
    }
    available.push_back(id);
  }
  if (available.empty()) return nullptr;
  const InstanceId chosen = limiter_.Choose(available);
  limiter_.Stage(chosen);
  // If resources were released and are not granted yet, others may come first. Those are told by
  // the Settle that follows the Release, not here: Deliver must not run under the scheduler's lock.
  Grant();
  if (std::erase(granted_, chosen) > 0) return members_[chosen].instance;
  members_[chosen].waiter = &waiter;
  return nullptr;
}

void ResourcePermits::Release(BatchRunner* instance, bool executed) {
  MutexLock lock(mutex_);
  const auto found = ids_.find(instance);
  if (found == ids_.end()) return;
  limiter_.Release(found->second, executed);
  if (members_[found->second].waiter != nullptr) limiter_.Stage(found->second);
}

void ResourcePermits::Settle() {
  {
    MutexLock lock(mutex_);
    Grant();
  }
  Deliver();
}

void ResourcePermits::Withdraw(std::span<BatchRunner* const> instances) {
  MutexLock lock(mutex_);
  for (BatchRunner* const instance : instances) {
    const auto found = ids_.find(instance);
    if (found == ids_.end()) continue;
    const InstanceId id = found->second;
    if (std::erase(granted_, id) > 0) {
      limiter_.Release(id, false);
    } else {
      limiter_.Withdraw(id);
    }
    // The scheduler may destroy the instance next, so a running OnPermit must have returned.
    while (delivering_.contains(id)) delivered_.Wait(lock);
    members_[id].waiter = nullptr;
  }
  Grant();
  lock.Unlock();
  Deliver();
}

void ResourcePermits::Grant() {
  while (const auto id = limiter_.Grant()) granted_.push_back(*id);
}

void ResourcePermits::Deliver() {
  // A waiter that has no work calls Release and Settle inside OnPermit. The outer Deliver continues
  // with the instances that this Settle granted, so the depth of the stack stays bounded.
  if (delivering_here == this) return;
  const ResourcePermits* const outer = std::exchange(delivering_here, this);
  MutexLock lock(mutex_);
  while (!granted_.empty()) {
    const InstanceId id = granted_.front();
    granted_.pop_front();
    Member& member = members_[id];
    // Cleared before the call: during OnPermit the model may stage this or another instance again.
    Waiter& waiter = *std::exchange(member.waiter, nullptr);
    delivering_.insert(id);
    lock.Unlock();
    waiter.OnPermit(member.instance);
    lock.Lock();
    delivering_.erase(delivering_.find(id));
    delivered_.NotifyAll();
  }
  delivering_here = outer;
}

}  // namespace nereid::schedule
