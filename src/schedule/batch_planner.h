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
  uint64_t wake_ns = kNever;  // without a batch: ask again then, or when a request arrives
  std::vector<Refusal> refused;  // requests that the caller must answer
};

/// Decides which queued requests run together. A planner owns the queue, but it has neither locks
/// nor threads, and the time is a parameter of its functions. Not thread-safe: the scheduler calls
/// it under its lock.
class BatchPlanner {
 public:
  virtual ~BatchPlanner() = default;

  /// Queues a normalized request that arrived at `now_ns` and takes it from the caller. Returns
  /// UNAVAILABLE when the request's queue is full; the caller then still owns the request.
  virtual base::Status Push(RequestPtr& request, uint64_t now_ns) = 0;

  /// Returns the next batch for `instance`, which is free at `now_ns`. The batch holds no request
  /// that is cancelled or timed out.
  virtual Decision Next(uint64_t now_ns, InstanceId instance) = 0;

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

  /// Records that a batch of this planner was executed: its size, the time its oldest request had
  /// waited, and the duration of the execution.
  virtual void OnExecuted(uint64_t /*batch_size*/, uint64_t /*wait_ns*/,
                          uint64_t /*execution_ns*/) {}

  virtual size_t size() const = 0;

  // ---- For planners that bind requests to instances (sequences). The defaults suit a planner with
  // one common queue. ----

  /// Returns whether instances differ, so that Next may have a batch for one instance and none for
  /// another. If so, the scheduler calls OnReleased for each request that has a sequence_handle.
  virtual bool IsPerInstance() const { return false; }

  /// Makes an instance known; called before any other function that takes its id.
  virtual void AddInstance(InstanceId /*instance*/, uint64_t /*now_ns*/) {}
  /// Stops giving new sequences to the instance; sequences that have begun there continue.
  virtual void RetireInstance(InstanceId /*instance*/) {}
  /// Returns whether a retired instance has no sequence left.
  virtual bool IsVacant(InstanceId /*instance*/) const { return true; }
  /// Forgets an instance that is retired and vacant.
  virtual void RemoveInstance(InstanceId /*instance*/) {}
  /// Ends everything that only waits for further requests, because no client can send any more.
  virtual void Drain(uint64_t /*now_ns*/, std::vector<Refusal>* /*refused*/) {}

  /// Returns the numbers of sequences, or nothing for a model without sequences.
  virtual std::optional<telemetry::SequenceStatistics> CountSequences() const {
    return std::nullopt;
  }
  /// Describes the first `most` live sequences; `name_of` returns the name of an instance.
  virtual telemetry::SequenceList ListSequences(
      size_t /*most*/, uint64_t /*now_ns*/,
      const std::function<std::string(InstanceId)>& /*name_of*/) const {
    return {};
  }

  /// Records that the backend released a request that was handed out.
  virtual void OnReleased(request::InferenceRequest& /*request*/, uint64_t /*now_ns*/) {}
  /// Returns OK if the backend may have this handed-out request executed once more. An error says
  /// why not; the backend must then release the request for good.
  virtual base::Status CheckReschedule(const request::InferenceRequest& request, uint64_t now_ns);
  /// Queues a handed-out request again, as the next request of its sequence. CheckReschedule must
  /// have returned OK for it.
  virtual void Reschedule(RequestPtr /*request*/, uint64_t /*now_ns*/,
                          std::vector<Refusal>* /*refused*/) {}

  /// Fills the padding rows of a batch and adds the tensors that the server supplies. Called
  /// without the scheduler's lock, so implementations must not touch the queue. A request that
  /// cannot be completed is moved from the batch to `failed`; the batch may be empty afterwards.
  virtual void Complete(Batch* /*batch*/, std::vector<Refusal>* /*failed*/) const {}
  /// Records that Complete put `request` into `failed`; called before the request is answered.
  virtual void OnFailed(request::InferenceRequest& /*request*/, uint64_t /*now_ns*/,
                        std::vector<Refusal>* /*refused*/) {}
};

}  // namespace nereid::schedule
