// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/duration.h"

namespace nereid::schedule {

using base::kNever;

/// The number of requests that must wait before a model makes its first batch. For tests of
/// batching, which must know the content of the queue at the first batch.
struct StartConditions {
  /// Requests in the queue; with sequences, in the slots of all instances. 0: no waiting.
  size_t queued = 0;
  /// With sequences: requests in the backlog, in addition to `queued`.
  size_t backlog = 0;
};

/// Parses the values of the environment variables TRITONSERVER_DELAY_SCHEDULER and
/// TRITONSERVER_BACKLOG_DELAY_SCHEDULER; null for one that is not set. A value that is not a
/// positive number counts as 0.
StartConditions ReadStartConditions(const char* delay, const char* backlog_delay);

/// Keeps a planner from making its first batch until the conditions are met. The gate opens
/// kOpensAfterNs later, because Triton polls the conditions every 10 ms. It never closes again.
class StartGate {
 public:
  static constexpr uint64_t kOpensAfterNs = 10'000'000;

  explicit StartGate(StartConditions conditions = {})
      : conditions_(conditions), opens_ns_(conditions.queued == 0 ? 0 : kNever) {}

  /// Returns when batches may be made, given the numbers of waiting requests at `now_ns`: a time
  /// not after `now_ns` if the gate is open, kNever while too few requests wait.
  uint64_t OpensAt(uint64_t now_ns, size_t queued, size_t backlog = 0) {
    if (opens_ns_ == kNever && queued >= conditions_.queued && backlog >= conditions_.backlog) {
      opens_ns_ = now_ns + kOpensAfterNs;
    }
    return opens_ns_;
  }
  bool IsOpen(uint64_t now_ns) const { return opens_ns_ <= now_ns; }
  /// Opens the gate at once, because no further request will come.
  void Open() { opens_ns_ = 0; }

 private:
  StartConditions conditions_;
  uint64_t opens_ns_;
};

}  // namespace nereid::schedule
