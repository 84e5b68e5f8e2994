// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "request/inference_request.h"
#include "schedule/batch.h"
#include "telemetry/model_statistics.h"

namespace nereid::schedule {

/// What a scheduler reports about its work; implemented by whoever keeps the statistics. Any
/// thread, no lock of the scheduler is held.
class SchedulerObserver {
 public:
  virtual ~SchedulerObserver() = default;
  /// A queued request is about to be answered without having been executed.
  virtual void OnRefused(const request::InferenceRequest& request,
                         telemetry::FailureReason reason) = 0;
  /// A batch of `requests` requests, `batch_size` in all, is about to be executed.
  virtual void OnBatchClosed(BatchReason reason, uint64_t requests, uint64_t batch_size) = 0;
};

}  // namespace nereid::schedule
