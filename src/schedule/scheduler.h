// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "base/result.h"
#include "base/status.h"
#include "schedule/request_target.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::schedule {

/// A model instance that takes part in scheduling.
struct SchedulerInstance {
  std::string name;                   // of the instance, and of its thread
  BatchRunner* runner;                // must outlive the scheduler, or its removal from it
  base::CpuPlacement placement = {};  // where its thread runs
};

/// Instances whose threads run and wait, in service of no scheduler yet. Ends the threads when it
/// is destroyed; must not outlive the scheduler that made it.
class PreparedInstances {
 public:
  virtual ~PreparedInstances() = default;
};

/// Brings the requests of one model to its instances. Thread-safe.
class Scheduler : public RequestTarget {
 public:
  /// From now on refuses new requests; what is queued is still served.
  virtual void StopAccepting() = 0;

  /// Requests that wait for an instance.
  virtual size_t PendingCount() const = 0;

  /// Starts the threads of instances, which may fail: all of them, or none. UNAVAILABLE when the
  /// system has no threads or memory for them.
  virtual base::Result<std::unique_ptr<PreparedInstances>> PrepareInstances(
      std::vector<SchedulerInstance> instances) = 0;

  /// Adds what was prepared while requests are being served; they take what is queued at once.
  virtual void AddPrepared(std::unique_ptr<PreparedInstances> prepared) = 0;

  /// Both.
  base::Status AddInstances(std::vector<SchedulerInstance> instances) {
    NEREID_ASSIGN_OR_RETURN(auto prepared, PrepareInstances(std::move(instances)));
    AddPrepared(std::move(prepared));
    return base::Status::Ok();
  }

  /// Takes instances out of service while requests are being served. Returns when none of them runs
  /// or will run a batch: they may be destroyed. What is queued waits for the others, or for
  /// instances that are added later. Sequences cannot change their instance: with them it returns
  /// when the last one that has begun there is over, which is up to clients. Runners that are not
  /// there are ignored. Must not be called from an instance's own thread.
  virtual void RemoveInstances(const std::vector<BatchRunner*>& runners) = 0;

  /// From now on these get no new sequences: the first step of their removal, which does not block.
  virtual void RetireInstances(const std::vector<BatchRunner*>& /*runners*/) {}

  /// The watch-dog's view: UNAVAILABLE while an execution has been running for longer than the
  /// configured limit, naming the model, the instance, the seconds and where it is stuck.
  virtual base::Status CheckProgress() const = 0;

  /// Nobody can reach the model any more: sequences that only wait for their client end now, the
  /// others when what is queued of them is served.
  virtual void EndIdleSequences() {}
  /// None where the model has no sequences.
  virtual std::optional<telemetry::SequenceStatistics> CountSequences() const {
    return std::nullopt;
  }
  /// The first `most` of the live sequences.
  virtual telemetry::SequenceList ListSequences(size_t /*most*/) const { return {}; }
};

}  // namespace nereid::schedule
