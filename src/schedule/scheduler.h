// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/batch.h"

namespace nereid::schedule {

/// A model instance that takes part in scheduling.
struct SchedulerInstance {
  std::string name;     // of its thread
  BatchRunner* runner;  // must outlive the scheduler, or its removal from it
};

/// Brings the requests of one model to its instances.
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

  /// Adds instances while requests are being served.
  virtual void AddInstances(std::vector<SchedulerInstance> instances) = 0;
};

}  // namespace nereid::schedule
