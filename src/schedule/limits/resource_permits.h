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

/// The rate limiter of a server (--rate-limit=execution_count): a RateLimiter behind a lock. At
/// most one idle instance of a model is in line at a time, while the model has a batch ready;
/// RateLimiter::Choose selects it. Thread-safe.
class ResourcePermits final : public ExecutionPermits {
 public:
  /// Keeps an instance registered until it is destroyed. Must not outlive the ResourcePermits.
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

  /// Registers the needs of an instance, before the instance is added to a scheduler. Returns the
  /// errors of RateLimiter::Register. When the registration is destroyed, no scheduler may use the
  /// instance any more; its permit and its place in the line are given up.
  base::Result<Registration> Register(BatchRunner* instance, LimitedInstance description);

  BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) override;
  void Release(BatchRunner* instance, bool executed) override;
  void Settle() override;
  void Withdraw(std::span<BatchRunner* const> instances) override;

 private:
  using InstanceId = RateLimiter::InstanceId;
  struct Member {
    BatchRunner* instance = nullptr;
    /// Set while the instance is in line, and when a scheduler asks for it before its previous
    /// permit is returned; in that case Release puts the instance into the line.
    Waiter* waiter = nullptr;
  };

  void Unregister(BatchRunner* instance);
  /// Moves the instances that the limiter allocates from the line to granted_.
  void GrantLocked();
  /// Calls OnPermit for the instances in granted_. Takes mutex_, but not during the calls. Does
  /// nothing when called inside an OnPermit that it made on this thread.
  void Deliver();

  std::mutex mutex_;                        // a leaf; schedulers take it under their own lock
  std::condition_variable delivered_;       // an OnPermit has returned
  RateLimiter limiter_;                     // guarded by mutex_
  std::map<InstanceId, Member> members_;    // guarded by mutex_
  std::map<BatchRunner*, InstanceId> ids_;  // guarded by mutex_
  std::deque<InstanceId> granted_;          // guarded by mutex_: allocated, waiter not told yet
  std::multiset<InstanceId> delivering_;    // guarded by mutex_: OnPermit is running
};

}  // namespace nereid::schedule
