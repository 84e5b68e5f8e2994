// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "schedule/batch.h"

namespace nereid::schedule {

/// Says when an instance may execute: the seam for whatever shares something among the instances of
/// all models (a rate limiter). A scheduler holds a permit for each execution. Batches are formed
/// when the permit is there, so a request that comes while the permit is awaited still joins.
///
/// An instance is named by its BatchRunner; what it needs (resources, priority) is told to the
/// implementation by whoever makes the instance, before the instance is added to a scheduler.
/// Thread-safe. The scheduler calls TryAcquire and Release with its own lock held, so an
/// implementation must not call a Waiter from there; Settle and Withdraw are called without any
/// lock.
class ExecutionPermits {
 public:
  /// A scheduler that waits.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    /// `instance`, for which TryAcquire had no permit, has one now. Called with no lock held, on
    /// any thread, typically inside another scheduler's Settle. The scheduler either executes and
    /// then calls Release, or, when nothing is left to do, calls Release at once.
    virtual void OnPermit(BatchRunner* instance) = 0;
  };

  virtual ~ExecutionPermits() = default;

  /// Asks for a permit for one of `idle`, which are all the idle instances of one model; there is
  /// work for at least one. Returns the instance that may execute now, chosen by the implementation
  /// (no other is waiting then because of this call), or null: all of them wait, and the waiter is
  /// told of each that gets a permit. Asking again for an instance that waits changes nothing.
  virtual BatchRunner* TryAcquire(std::span<BatchRunner* const> idle, Waiter& waiter) = 0;

  /// The execution is over, or did not take place (`executed` false: it is not counted). What it
  /// held is free; nobody is told yet, so that a scheduler with more to do can stand in line with
  /// the others before it is given out: it calls TryAcquire, and then Settle.
  virtual void Release(BatchRunner* instance, bool executed) = 0;

  /// Gives out what is free, and tells those who get it. After each Release.
  virtual void Settle() = 0;

  /// Forgets that these wait. When it returns, OnPermit is not running for them and never will.
  virtual void Withdraw(std::span<BatchRunner* const> instances) = 0;
};

}  // namespace nereid::schedule
