// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/result.h"
#include "schedule/execution_permits.h"
#include "schedule/limits/rate_limiter.h"

namespace nereid::schedule {

/// The rate limiter of a server (--rate-limit=execution_count): RateLimiter behind a lock. One idle
/// instance of a model stands in line at a time, as long as the model has a batch ready; which one,
/// RateLimiter::Choose says. Thread-safe.
class ResourcePermits final : public ExecutionPermits {
 public:
  /// Keeps an instance registered while it lives. Must not outlive the ResourcePermits.
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;
    ~Registration();

   private:
    friend class ResourcePermits;
    Registration(ResourcePermits* permits, BatchRunner* instance)
        : permits_(permits), instance_(instance) {}
    ResourcePermits* permits_ = nullptr;
    BatchRunner* instance_ = nullptr;
  };

  explicit ResourcePermits(const std::vector<ResourceCapacity>& capacities = {})
      : limiter_(capacities) {}

  /// Tells what an instance needs, before it is added to a scheduler; see RateLimiter::Register for
  /// the failures. By the time the registration goes, no scheduler may use the instance any more;
  /// what it held and its place in the line are given up then.
  base::Result<Registration> Register(BatchRunner* instance, LimitedInstance description);

  BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) override;
  void Release(BatchRunner* instance, bool executed) override;
  void Settle() override;
  void Withdraw(std::span<BatchRunner* const> instances) override;

 private:
  using InstanceId = RateLimiter::InstanceId;
  struct Member {
    BatchRunner* instance = nullptr;
    /// Wants to be told: set while it stands in line, and when a scheduler asks for it before the
    /// permit it had is back; it joins the line then.
    Waiter* waiter = nullptr;
  };

  void Unregister(BatchRunner* instance);
  /// Moves whoever the limiter lets in from the line to granted_.
  void GrantLocked();
  /// Tells the waiters of what is in granted_. Does nothing inside itself: a waiter that gives a
  /// permit back at once is no deeper on the stack than the first.
  void Deliver();

  std::mutex mutex_;
  std::condition_variable delivered_;       // an OnPermit has returned
  RateLimiter limiter_;                     // guarded by mutex_
  std::map<InstanceId, Member> members_;    // guarded by mutex_
  std::map<BatchRunner*, InstanceId> ids_;  // guarded by mutex_
  std::deque<InstanceId> granted_;          // guarded by mutex_: allocated, its waiter not told yet
  std::multiset<InstanceId> delivering_;    // guarded by mutex_: its OnPermit is running
};

}  // namespace nereid::schedule
