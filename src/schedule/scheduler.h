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
#include "request/correlation_id.h"
#include "schedule/request_target.h"
#include "schedule/sequence_port.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::schedule {

/// A model instance that takes part in scheduling.
struct SchedulerInstance {
  std::string name;     // of the instance, and of its thread
  BatchRunner* runner;  // must outlive the scheduler, or its removal from the scheduler
  base::CpuPlacement placement = {};  // the CPUs and memory nodes of the instance's thread
};

/// Instances whose threads are started but which take no batches yet. The destructor ends the
/// threads of instances that were not added. Must not outlive the scheduler that made it.
class PreparedInstances {
 public:
  virtual ~PreparedInstances() = default;
};

/// Distributes the requests of one model to its instances. Thread-safe.
class Scheduler : public RequestTarget {
 public:
  /// Returns the number of requests that wait for an instance.
  virtual size_t PendingCount() const = 0;

  /// Starts the threads of all `instances`, or of none. Returns UNAVAILABLE when the system has no
  /// threads or memory for them.
  virtual base::Result<std::unique_ptr<PreparedInstances>> PrepareInstances(
      std::vector<SchedulerInstance> instances) = 0;

  /// Adds prepared instances while requests are served; they take queued requests at once.
  virtual void AddPrepared(std::unique_ptr<PreparedInstances> prepared) = 0;

  /// Prepares and adds instances.
  base::Status AddInstances(std::vector<SchedulerInstance> instances) {
    NEREID_ASSIGN_OR_RETURN(auto prepared, PrepareInstances(std::move(instances)));
    AddPrepared(std::move(prepared));
    return base::Status::Ok();
  }

  /// Removes instances while requests are served. Returns when none of them runs or will run a
  /// batch, so the caller may destroy them. Queued requests wait for the other instances, or for
  /// instances that are added later. Sequences cannot change their instance: the call waits until
  /// the last sequence of these instances has ended, which may depend on clients. Runners that are
  /// unknown to the scheduler are ignored. Must not be called from an instance's own thread.
  virtual void RemoveInstances(const std::vector<BatchRunner*>& runners) = 0;

  /// Stops giving new sequences to these instances. Does not block; RemoveInstances must follow.
  virtual void RetireInstances(const std::vector<BatchRunner*>& /*runners*/) {}

  /// Returns UNAVAILABLE while an execution has been running for longer than
  /// SchedulerEnvironment::watchdog_ns. The text names the model, the instance, the seconds and
  /// where the execution is stuck.
  virtual base::Status CheckProgress() const = 0;

  /// Ends the sequences that only wait for their client, because no client can reach the model any
  /// more. Other sequences end when their queued requests have been executed.
  virtual void EndIdleSequences() {}
  /// Returns the sequences for transfers; null for a model without sequences.
  virtual SequencePort* sequence_port() const { return nullptr; }
  /// Returns the numbers of sequences, or nothing for a model without sequences.
  virtual std::optional<telemetry::SequenceStatistics> CountSequences() const {
    return std::nullopt;
  }
  /// Describes the first `limit` live sequences.
  virtual telemetry::SequenceList ListSequences(size_t /*limit*/) const { return {}; }
};

}  // namespace nereid::schedule
