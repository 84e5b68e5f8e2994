// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "schedule/batch.h"

namespace nereid::schedule {

/// Decides when an instance may execute, for models that share something with other models (see
/// ResourcePermits, the rate limiter). A scheduler holds one permit for each execution. The
/// scheduler forms a batch after it got the permit, so a request that arrives while the scheduler
/// waits for the permit still joins the batch.
///
/// An instance is identified by its BatchRunner. Its needs (resources, priority) must be registered
/// with the implementation before the instance is added to a scheduler.
///
/// Thread-safe. The scheduler calls TryAcquire and Release with its own lock held, so these must
/// not call a Waiter. It calls Settle and Withdraw without a lock.
class ExecutionPermits {
 public:
  /// A scheduler that waits for permits.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    /// Tells the scheduler that `instance`, for which TryAcquire had no permit, has one now. Called
    /// without a lock, on any thread, typically inside another scheduler's Settle. The scheduler
    /// either executes a batch and then calls Release, or calls Release at once when it has no
    /// batch.
    virtual void OnPermit(BatchRunner* instance) = 0;
  };

  virtual ~ExecutionPermits() = default;

  /// Requests a permit for one of `idle`, which are the idle instances of one model for which a
  /// batch is ready. Returns the instance that may execute at once; the implementation chooses it.
  /// Returns null if none may: then `waiter` is told when an instance gets a permit. A second call
  /// for an instance that waits already changes nothing.
  virtual BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) = 0;

  /// Returns the permit of `instance`. `executed` is false if no execution took place; then none is
  /// counted. The freed resources are not granted to others before Settle. So a scheduler with more
  /// work calls Release, TryAcquire, Settle: it is in the queue with the others when the resources
  /// are granted.
  virtual void Release(BatchRunner* instance, bool executed) = 0;

  /// Grants the free resources and calls OnPermit for the instances that get them. Must be called
  /// after each Release.
  virtual void Settle() = 0;

  /// Removes these instances from the queue. When it returns, OnPermit is not running for them and
  /// will not be called for them.
  virtual void Withdraw(std::span<BatchRunner* const> instances) = 0;
};

}  // namespace nereid::schedule
