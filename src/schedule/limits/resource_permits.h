// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "schedule/execution_permits.h"
#include "schedule/limits/rate_limiter.h"

namespace nereid::schedule {

/// The rate limiter of a server (--rate-limit=execution_count): a RateLimiter behind a lock. At
/// most one idle instance of a model is staged at a time, while the model has a batch ready;
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
  /// instance any more; its permit and its place among the staged ones are given up.
  base::Result<Registration> Register(BatchRunner* instance, LimitedInstance description);

  BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) override;
  void Release(BatchRunner* instance, bool executed) override;
  void Settle() override;
  void Withdraw(std::span<BatchRunner* const> instances) override;

 private:
  using InstanceId = RateLimiter::InstanceId;
  struct Member {
    InstanceId id = 0;
    BatchRunner* instance = nullptr;
    /// Set while the instance is staged, and when a scheduler asks for it before its previous
    /// permit is returned; in that case Release stages the instance.
    Waiter* waiter = nullptr;
    std::list<Member*> spare;            // the node for granted_, while it is not there
    std::list<Member*>::iterator place;  // the node, wherever it is
    bool is_granted = false;             // the node is in granted_
    int delivering = 0;                  // the calls of OnPermit that are running
  };

  void Unregister(BatchRunner* instance);
  /// Moves the instances that the limiter allocates to granted_.
  void Grant() NEREID_REQUIRES(mutex_);
  /// Takes the member out of granted_. Returns false if it is not there.
  bool TakeGranted(Member& member) NEREID_REQUIRES(mutex_);
  /// Calls OnPermit for the instances in granted_. Takes mutex_, but not during the calls. Does
  /// nothing when called inside an OnPermit that it made on this thread.
  void Deliver() NEREID_EXCLUDES(mutex_);

  // The last lock in the order: schedulers call TryAcquire and Release under their own mutex, so
  // nothing is called back while this one is held.
  base::Mutex mutex_;
  base::ConditionVariable delivered_;  // an OnPermit has returned
  RateLimiter limiter_ NEREID_GUARDED_BY(mutex_);
  // Nodes are moved, so that only Register allocates.
  std::map<BatchRunner*, Member> members_ NEREID_GUARDED_BY(mutex_);
  std::map<InstanceId, Member*> by_id_ NEREID_GUARDED_BY(mutex_);
  /// Allocated instances whose waiter is not told yet.
  std::list<Member*> granted_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::schedule
