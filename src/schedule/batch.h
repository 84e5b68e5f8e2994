// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "request/inference_request.h"

namespace nereid::schedule {

using RequestPtr = std::unique_ptr<request::InferenceRequest>;

/// Why a batch was closed, for the verbose log and the counters.
enum class BatchReason {
  kSingle,        // no batching: one request is one execution
  kPreferred,     // the largest preferred size that the queue allows
  kFull,          // the next request would not fit into max_batch_size
  kShape,         // the next request's shapes or inputs differ
  kDelayExpired,  // the oldest request has waited long enough
  kNoDelay,       // no delay is configured: everything that waits goes
};

std::string_view BatchReasonText(BatchReason reason);

/// Requests that are executed together, in order of arrival.
struct Batch {
  std::vector<RequestPtr> requests;
  BatchReason reason = BatchReason::kSingle;
};

/// One model instance as the scheduler sees it: something that runs a batch, one at a time.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;

  /// Executes the batch on the calling thread and returns when the backend is done with it.
  virtual void Run(Batch batch) noexcept = 0;
};

}  // namespace nereid::schedule
