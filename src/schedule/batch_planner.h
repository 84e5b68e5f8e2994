// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "schedule/batch.h"
#include "telemetry/model_statistics.h"

namespace nereid::schedule {

/// A time that never comes.
inline constexpr uint64_t kNever = UINT64_MAX;

/// A queued request that will not be executed, and the answer it gets.
struct Refusal {
  RequestPtr request;
  base::Status error;
  telemetry::FailureReason reason = telemetry::FailureReason::kRejected;
};

/// What to do now that an instance is free.
struct Decision {
  std::optional<Batch> batch;    // run this
  uint64_t wake_ns = kNever;     // without a batch: ask again at this time, or when a request comes
  std::vector<Refusal> refused;  // answer these
};

/// Decides which queued requests run together. Pure: it holds the queue, but neither locks nor
/// threads, and time comes in as a parameter. Not thread-safe.
class BatchPlanner {
 public:
  virtual ~BatchPlanner() = default;

  /// Queues a normalised request that arrived at `now_ns`. UNAVAILABLE when its queue is full; the
  /// caller keeps the request then.
  virtual base::Status Push(RequestPtr& request, uint64_t now_ns) = 0;

  /// The next batch for an instance that is free at `now_ns`. No request in it is cancelled or has
  /// timed out.
  virtual Decision Next(uint64_t now_ns) = 0;

  /// When Next would give a batch if nothing else happens: `now_ns` if it would now, kNever for an
  /// empty queue. Expire must have been called for `now_ns`.
  virtual uint64_t ReadyAt(uint64_t now_ns) = 0;

  /// Removes what has timed out by `now_ns`. Cheap when nothing has.
  virtual void Expire(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// The next time at which Expire can have something to do; kNever if none.
  virtual uint64_t NextExpiry() const = 0;

  /// Removes the requests that are cancelled. Looks at the whole queue.
  virtual void DropCancelled(std::vector<Refusal>* refused) = 0;

  /// Removes everything; each request is to be answered with `error`, prefixed with its id.
  virtual void DropAll(const base::Status& error, std::vector<Refusal>* refused) = 0;

  /// A batch of this planner was executed: its size, how long its oldest request had waited, how
  /// long the execution took.
  virtual void OnExecuted(uint64_t /*batch_size*/, uint64_t /*wait_ns*/,
                          uint64_t /*execution_ns*/) {}

  virtual size_t size() const = 0;
};

}  // namespace nereid::schedule
