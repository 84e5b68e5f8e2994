// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/duration.h"
#include "base/status.h"
#include "schedule/batch.h"
#include "telemetry/model_statistics.h"

namespace nereid::schedule {

using base::kNever;

/// Identifies an instance to a planner. An id is never given to a second instance.
using InstanceId = uint64_t;

/// A queued request that will not be executed, and the error that answers it.
struct Refusal {
  RequestPtr request;
  base::Status error;
  telemetry::FailureReason reason = telemetry::FailureReason::kRejected;
};

/// The answer of BatchPlanner::Next for an instance that is free.
struct Decision {
  std::optional<Batch> batch;  // the batch to run; none: nothing to run yet
  uint64_t wake_ns = kNever;   // without a batch: ask again then, or when a request arrives
};

/// Decides which queued requests run together. A planner owns the queue, but it has neither locks
/// nor threads, and the time is a parameter of its functions. Not thread-safe: the scheduler calls
/// it under its lock.
///
/// Memory: a function that throws std::bad_alloc has lost no request. Each one is still in the
/// queue, or in `refused`, or (Push) with the caller. DropFirst, size and NextExpiry do not throw.
class BatchPlanner {
 public:
  virtual ~BatchPlanner() = default;

  /// Queues a normalized request that arrived at `now_ns` and takes it from the caller. Returns
  /// UNAVAILABLE when the request's queue is full; the caller then still owns the request.
  virtual base::Status Push(RequestPtr& request, uint64_t now_ns) = 0;

  /// Returns the next batch for `instance`, which is free at `now_ns`. The batch holds no request
  /// that is cancelled or timed out: the planner moves those requests to `refused`, and the caller
  /// must answer them.
  virtual Decision Next(uint64_t now_ns, InstanceId instance, std::vector<Refusal>* refused) = 0;

  /// Returns the time at which Next will give a batch to `instance` if no other event comes:
  /// `now_ns` if it would give one at once, kNever if the queue is empty. Expire must have been
  /// called for `now_ns` before.
  virtual uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) = 0;

  /// Moves the requests that have timed out by `now_ns` from the queue to `refused`. Costs little
  /// when no request has timed out.
  virtual void Expire(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// Returns the earliest time at which Expire may have work to do, or kNever.
  virtual uint64_t NextExpiry() const = 0;

  /// Moves the cancelled requests from the queue to `refused`. Reads the whole queue.
  virtual void DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// Moves all requests from the queue to `refused`, each with `error` prefixed by the request's
  /// id.
  virtual void DropAll(const base::Status& error, std::vector<Refusal>* refused) = 0;

  /// Removes one request from the queue without allocating, for a caller that is out of memory.
  /// The caller must answer it. Returns null if the queue is empty.
  virtual RequestPtr DropFirst(uint64_t now_ns) = 0;

  /// Tells the planner that no client can send a request any more. Sequences that only wait for
  /// further requests end, and queued requests run without waiting for others.
  virtual void Drain(uint64_t now_ns) = 0;

  /// Returns the number of requests in the queue.
  virtual size_t size() const = 0;
};

}  // namespace nereid::schedule
