// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "request/inference_request.h"

namespace nereid::schedule {

using RequestPtr = std::unique_ptr<request::InferenceRequest>;

/// Why a batch was closed, for the verbose log and the counters.
enum class BatchReason {
  kSingle,           // no batching: one request is one execution
  kPreferred,        // the largest preferred size that the queue allows
  kPreferredPassed,  // the next request would jump over the largest preferred size
  kFull,             // max_batch_size is reached, or the next request would exceed it
  kShape,            // the next request's shapes or inputs differ
  kDelayExpired,     // the oldest request has waited for max_queue_delay_microseconds
  kDeadline,         // waiting for more would let a request of the batch time out
  kNoDelay,          // no delay is configured: everything that waits goes
  kObjective,        // waiting for more would not help the latency objective
  kReadySlots,       // sequences, Direct: every slot with a request
  kUtilization,      // sequences, Direct: minimum_slot_utilization is reached
  kStrategy,         // the model's batching library leaves the next request out
};
inline constexpr size_t kBatchReasonCount = 12;

/// A sentence for the log.
std::string_view BatchReasonText(BatchReason reason);
/// The value of the metrics' label `reason`.
std::string_view BatchReasonLabel(BatchReason reason);

/// Requests that are executed together, in the order in which they are served.
struct Batch {
  std::vector<RequestPtr> requests;  // null: a padding row, filled in by BatchPlanner::Complete
  BatchReason reason = BatchReason::kSingle;
  uint64_t batch_size = 0;  // of all requests; a request without a batch dimension counts one
  uint64_t oldest_arrival_ns = 0;
  size_t left_in_queue = 0;  // requests that wait behind this batch
};

/// Tells the traces of the requests why the batch was closed and how long its oldest request had
/// waited at `now_ns`, as an activity of its own. A request that never waited for others (kSingle)
/// has nothing to tell.
void TraceBatch(const Batch& batch, uint64_t now_ns);

/// One model instance as the scheduler sees it: something that runs a batch, one at a time.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;

  /// Executes the batch on the calling thread and returns when the backend is done with it.
  virtual void Run(Batch batch) noexcept = 0;
};

}  // namespace nereid::schedule
