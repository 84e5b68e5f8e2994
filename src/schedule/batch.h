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

/// The reason for which a batch was closed, for the verbose log and the counters.
enum class BatchReason {
  kSingle,           // the model does not batch: each request is an execution of its own
  kPreferred,        // the batch has the largest preferred size that the queue allows
  kPreferredPassed,  // the next request would exceed the largest preferred size
  kFull,             // the batch has max_batch_size, or the next request would exceed it
  kShape,            // the next request has other shapes or inputs
  kDelayExpired,     // the oldest request has waited for max_queue_delay_microseconds
  kDeadline,         // a request of the batch would time out while the batch waits
  kNoDelay,          // no delay is configured: all compatible requests in the queue run
  kObjective,        // a longer wait would not help the latency objective
  kReadySlots,       // Direct sequences: every slot that has a request
  kUtilization,      // Direct sequences: minimum_slot_utilization is reached
  kAlone,            // nobody joined earlier requests that waited alone
  kStrategy,         // the model's batching library excludes the next request
};
inline constexpr size_t kBatchReasonCount = 13;

/// Returns the reason as a phrase for the log.
std::string_view BatchReasonText(BatchReason reason);
/// Returns the value of the metrics' label `reason`.
std::string_view BatchReasonLabel(BatchReason reason);

/// Requests that are executed together, in the order of their rows.
struct Batch {
  std::vector<RequestPtr> requests;  // null: a padding row, which BatchPlanner::Complete fills
  BatchReason reason = BatchReason::kSingle;
  // Sum over the requests; a request without a batch dimension counts as 1.
  uint64_t batch_size = 0;
  uint64_t input_bytes = 0;  // of all inputs; set when the batch runs
  uint64_t oldest_arrival_ns = 0;
  size_t left_in_queue = 0;  // requests that still wait after this batch was taken
};

/// Adds an activity to the traces of the batch's requests: why the batch was closed, and how long
/// the request and the oldest one had waited at `now_ns`. Does nothing for a batch with reason
/// kSingle, whose request never waited for others.
void TraceBatch(const Batch& batch, uint64_t now_ns);

/// A model instance as the scheduler sees it: it runs one batch at a time.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;

  /// Executes the batch on the calling thread. Returns when the backend's execute function has
  /// returned.
  virtual void Run(Batch batch) noexcept = 0;

  /// Returns whether Run would take a batch without waiting for batches that it has taken before.
  /// If not, only the instance's own thread calls Run. Called before Run, by the thread that calls
  /// Run; perhaps with the scheduler's lock held. Must not wait.
  virtual bool HasRoom() { return true; }
};

}  // namespace nereid::schedule
