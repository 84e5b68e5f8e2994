// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/batch_planner.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::schedule {

class SequenceTransfers;

/// What a planner of sequences does beyond BatchPlanner. It binds sequences to instances, so Next
/// may have a batch for one instance and none for another, and it must know when the backend has
/// released a request, because the next request of the sequence waits for that. Not thread-safe:
/// the scheduler calls it under its lock.
///
/// Memory: only AddInstance, the reports and TakeRefused throw std::bad_alloc.
class SequenceHooks {
 public:
  virtual ~SequenceHooks() = default;

  // ---- Instances ----

  /// Makes an instance known; called before any other function that takes its id.
  virtual void AddInstance(InstanceId instance, uint64_t now_ns) = 0;
  /// Stops giving new sequences to the instance; sequences that have begun there continue.
  virtual void RetireInstance(InstanceId instance) = 0;
  /// Returns whether a retired instance has no sequence left.
  virtual bool IsVacant(InstanceId instance) const = 0;
  /// Forgets an instance that is retired and vacant.
  virtual void RemoveInstance(InstanceId instance) = 0;

  // ---- Requests that were handed out. TakeRefused must follow each of these calls. ----

  /// Records that the backend released a request for good.
  virtual void OnReleased(request::InferenceRequest& request, uint64_t now_ns) = 0;
  /// Returns OK if the backend may have this request executed once more. An error says why not; the
  /// backend must then release the request for good.
  virtual base::Status CheckReschedule(const request::InferenceRequest& request,
                                       uint64_t now_ns) = 0;
  /// Queues a request again, as the next request of its sequence. CheckReschedule must have
  /// returned OK for it.
  virtual void Reschedule(RequestPtr request, uint64_t now_ns) = 0;
  /// Records that the inputs that the server adds to `request` could not be made. Called before the
  /// request is answered.
  virtual void OnFailed(request::InferenceRequest& request, uint64_t now_ns) = 0;
  /// Moves the requests that earlier calls have refused to `refused`. If it throws, the next call
  /// moves the rest.
  virtual void TakeRefused(uint64_t now_ns, std::vector<Refusal>* refused) = 0;

  /// Returns what transfers sequences to and from other servers.
  virtual SequenceTransfers& transfers() = 0;

  // ---- Reports ----

  /// Returns the numbers of sequences.
  virtual telemetry::SequenceStatistics CountSequences() const = 0;
  /// Describes the first `limit` live sequences; `name_of` returns the name of an instance.
  virtual telemetry::SequenceList ListSequences(
      size_t limit, uint64_t now_ns,
      const std::function<std::string(InstanceId)>& name_of) const = 0;
};

}  // namespace nereid::schedule
