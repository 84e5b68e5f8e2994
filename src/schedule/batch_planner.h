// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/status.h"
#include "schedule/batch.h"
#include "schedule/queue_time.h"
#include "telemetry/model_statistics.h"

namespace nereid::schedule {

/// Names an instance to a planner; never used for another one.
using InstanceId = uint64_t;

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

  /// The next batch for `instance`, which is free at `now_ns`. No request in it is cancelled or has
  /// timed out.
  virtual Decision Next(uint64_t now_ns, InstanceId instance) = 0;

  /// When Next would give a batch if nothing else happens: `now_ns` if it would now, kNever for an
  /// empty queue. Expire must have been called for `now_ns`.
  virtual uint64_t ReadyAt(uint64_t now_ns, InstanceId instance) = 0;

  /// Removes what has timed out by `now_ns`. Cheap when nothing has.
  virtual void Expire(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// The next time at which Expire can have something to do; kNever if none.
  virtual uint64_t NextExpiry() const = 0;

  /// Removes the requests that are cancelled. Looks at the whole queue.
  virtual void DropCancelled(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// Removes everything; each request is to be answered with `error`, prefixed with its id.
  virtual void DropAll(const base::Status& error, std::vector<Refusal>* refused) = 0;

  /// A batch of this planner was executed: its size, how long its oldest request had waited, how
  /// long the execution took.
  virtual void OnExecuted(uint64_t /*batch_size*/, uint64_t /*wait_ns*/,
                          uint64_t /*execution_ns*/) {}

  virtual size_t size() const = 0;

  // ---- Where requests belong to instances (sequences). The defaults are for one common queue.
  // ----

  /// Whether instances differ: Next may have nothing for one and a batch for another. Requests that
  /// have a sequence_handle are reported when they are released.
  virtual bool IsPerInstance() const { return false; }

  /// Called before anything else is asked for the instance.
  virtual void AddInstance(InstanceId /*instance*/, uint64_t /*now_ns*/) {}
  /// The instance gets nothing new; what has begun there goes on.
  virtual void RetireInstance(InstanceId /*instance*/) {}
  /// Whether a retired instance has nothing that must go on there.
  virtual bool IsVacant(InstanceId /*instance*/) const { return true; }
  /// It is vacant and gone.
  virtual void RemoveInstance(InstanceId /*instance*/) {}
  /// Nobody can send anything any more: what only waits for that is ended.
  virtual void Drain(uint64_t /*now_ns*/, std::vector<Refusal>* /*refused*/) {}

  /// None where there are no sequences.
  virtual std::optional<telemetry::SequenceStatistics> CountSequences() const {
    return std::nullopt;
  }
  /// The first `most` of them; `name_of` knows the instances.
  virtual telemetry::SequenceList ListSequences(
      size_t /*most*/, uint64_t /*now_ns*/,
      const std::function<std::string(InstanceId)>& /*name_of*/) const {
    return {};
  }

  /// A handed out request was released.
  virtual void OnReleased(request::InferenceRequest& /*request*/, uint64_t /*now_ns*/) {}
  /// Whether a backend may have this request, which is handed out, executed once more; if not, why,
  /// and the backend has to release it for good.
  virtual base::Status CheckReschedule(const request::InferenceRequest& request, uint64_t now_ns);
  /// Queues a handed out request again, as the next one of its sequence. CheckReschedule has said
  /// yes.
  virtual void Reschedule(RequestPtr /*request*/, uint64_t /*now_ns*/,
                          std::vector<Refusal>* /*refused*/) {}

  /// Fills padding rows and adds what the server adds to the requests. Does not touch the queue:
  /// called without the lock. Requests that cannot be completed are in `failed` then, and not in
  /// the batch, which may be empty.
  virtual void Complete(Batch* /*batch*/, std::vector<Refusal>* /*failed*/) const {}
  /// Called for each of those, before it is answered.
  virtual void OnFailed(request::InferenceRequest& /*request*/, uint64_t /*now_ns*/,
                        std::vector<Refusal>* /*refused*/) {}
};

}  // namespace nereid::schedule
