// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/cpus.h"
#include "base/status.h"
#include "schedule/batch.h"

namespace nereid::schedule {

class ResponseOrder;

/// A model instance that takes part in scheduling.
struct SchedulerInstance {
  std::string name;                   // of the instance, and of its thread
  BatchRunner* runner;                // must outlive the scheduler, or its removal from it
  base::CpuPlacement placement = {};  // where its thread runs
};

/// Brings the requests of one model to its instances. Thread-safe, but instances are added and
/// removed by one thread at a time.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Takes a normalised request. On failure the caller still owns it, nothing was sent, and the
  /// failure is not counted. May run the request on the calling thread if it allows that.
  virtual base::Status Enqueue(RequestPtr& request) = 0;

  /// From now on refuses new requests; what is queued is still served.
  virtual void StopAccepting() = 0;

  /// Requests that wait for an instance.
  virtual size_t PendingCount() const = 0;

  /// Adds instances while requests are being served; they take what is queued at once.
  virtual void AddInstances(std::vector<SchedulerInstance> instances) = 0;

  /// Takes instances out of service while requests are being served. Returns when none of them runs
  /// or will run a batch: they may be destroyed. What is queued waits for the others, or for
  /// instances that are added later. Runners that are not there are ignored. Must not be called
  /// from an instance's own thread.
  virtual void RemoveInstances(const std::vector<BatchRunner*>& runners) = 0;

  /// The watch-dog's view: UNAVAILABLE while an execution has been running for longer than the
  /// configured limit, naming the model, the instance, the seconds and where it is stuck.
  virtual base::Status CheckProgress() const = 0;

  /// Keeps the responses of the model in order; null where order is not promised.
  virtual std::shared_ptr<ResponseOrder> response_order() const = 0;
};

}  // namespace nereid::schedule
