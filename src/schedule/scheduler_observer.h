// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "request/inference_request.h"
#include "schedule/batch.h"
#include "telemetry/model_statistics.h"

namespace nereid::schedule {

/// Receives the reports of a scheduler about its work, for the statistics. Called on any thread,
/// without a lock of the scheduler.
class SchedulerObserver {
 public:
  virtual ~SchedulerObserver() = default;
  /// Called before a queued request is answered without having been executed.
  virtual void OnRefused(const request::InferenceRequest& request,
                         telemetry::FailureReason reason) = 0;
  /// Called before a batch of `requests` requests with a total size of `batch_size` is executed.
  virtual void OnBatchClosed(BatchReason reason, uint64_t requests, uint64_t batch_size) = 0;
};

}  // namespace nereid::schedule
