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
  // All memory is taken before anything is changed, and after limiter_ has registered the instance,
  // nothing fails.
  std::map<BatchRunner*, Member> added;
  Member& member = added[instance];
  member.instance = instance;
  member.place = member.spare.insert(member.spare.end(), &member);
  std::map<InstanceId, Member*> added_id = {{InstanceId{0}, &member}};
  MutexLock lock(mutex_);
  NEREID_ASSIGN_OR_RETURN(const auto ids, limiter_.Register({std::move(description)}));
  member.id = ids.front();
  auto by_id = added_id.extract(added_id.begin());
  by_id.key() = member.id;
  by_id_.insert(std::move(by_id));
  members_.merge(added);
  // No Settle is needed, although a capacity may have grown: the first staged instance fitted
  // before, or waits for resources in use, whose Release will be followed by a Settle.
  return Registration(this, instance);
}

void ResourcePermits::Unregister(BatchRunner* instance) {
  Withdraw({&instance, 1});
  {
    MutexLock lock(mutex_);
    const auto found = members_.find(instance);
    limiter_.Unregister(found->second.id);
    by_id_.erase(found->second.id);
    members_.erase(found);
    // The instance may have held resources, or have been the first staged one.
    Grant();
  }
  Deliver();
}

BatchRunner* ResourcePermits::TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) {
  MutexLock lock(mutex_);
  std::vector<InstanceId> available;
  for (BatchRunner* const instance : idle) {
    const auto found = members_.find(instance);
    // An instance that was not registered needs nothing.
    if (found == members_.end()) return instance;
    Member& member = found->second;
    if (!limiter_.IsAvailable(member.id)) {
      // An instance of the model is staged already, or its OnPermit is about to be called, or it
      // had a permit without work that is not returned yet. In the last cases the model has got
      // work meanwhile, so the waiter is recorded: Release stages the instance again.
      member.waiter = &waiter;
      return nullptr;
    }
    available.push_back(member.id);
  }
  if (available.empty()) return nullptr;
  Member& chosen = *by_id_.at(limiter_.Choose(available));
  limiter_.Stage(chosen.id);
  // If resources were released and are not granted yet, others may come first. Those are told by
  // the Settle that follows the Release, not here: Deliver must not run under the scheduler's lock.
  Grant();
  if (TakeGranted(chosen)) return chosen.instance;
  chosen.waiter = &waiter;
  return nullptr;
}

void ResourcePermits::Release(BatchRunner* instance, bool executed) {
  MutexLock lock(mutex_);
  const auto found = members_.find(instance);
  if (found == members_.end()) return;
  limiter_.Release(found->second.id, executed);
  if (found->second.waiter != nullptr) limiter_.Stage(found->second.id);
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
    const auto found = members_.find(instance);
    if (found == members_.end()) continue;
    Member& member = found->second;
    if (TakeGranted(member)) {
      limiter_.Release(member.id, false);
    } else {
      limiter_.Withdraw(member.id);
    }
    // The scheduler may destroy the instance next, so a running OnPermit must have returned.
    while (member.delivering > 0) delivered_.Wait(lock);
    member.waiter = nullptr;
  }
  Grant();
  lock.Unlock();
  Deliver();
}

void ResourcePermits::Grant() {
  while (const auto id = limiter_.Grant()) {
    Member& member = *by_id_.at(*id);
    granted_.splice(granted_.end(), member.spare);
    member.is_granted = true;
  }
}

bool ResourcePermits::TakeGranted(Member& member) {
  if (!member.is_granted) return false;
  member.spare.splice(member.spare.end(), granted_, member.place);
  member.is_granted = false;
  return true;
}

void ResourcePermits::Deliver() {
  // A waiter that has no work calls Release and Settle inside OnPermit. The outer Deliver continues
  // with the instances that this Settle granted, so the depth of the stack stays bounded.
  if (delivering_here == this) return;
  const ResourcePermits* const outer = std::exchange(delivering_here, this);
  MutexLock lock(mutex_);
  while (!granted_.empty()) {
    Member& member = *granted_.front();
    TakeGranted(member);
    // Cleared before the call: during OnPermit the model may stage this or another instance again.
    Waiter& waiter = *std::exchange(member.waiter, nullptr);
    ++member.delivering;
    lock.Unlock();
    waiter.OnPermit(member.instance);
    lock.Lock();
    --member.delivering;
    delivered_.NotifyAll();
  }
  delivering_here = outer;
}

}  // namespace nereid::schedule
