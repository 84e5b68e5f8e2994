// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/queue_time.h"

namespace nereid::schedule {

/// Until how many requests wait a model schedules nothing, once; 0: it begins at once. For tests of
/// batching, which need to know what stands in a queue when the first batch is made.
struct StartConditions {
  /// In the queue; with sequences, in the slots of all instances.
  size_t queued = 0;
  /// With sequences: in the backlog as well.
  size_t backlog = 0;
};

/// The values of TRITONSERVER_DELAY_SCHEDULER and TRITONSERVER_BACKLOG_DELAY_SCHEDULER; null where
/// one is not set. What is no positive number counts as 0.
StartConditions ReadStartConditions(const char* delay, const char* backlog_delay);

/// Keeps a planner from making its first batch until the conditions are met. It opens a little
/// later than that, as Triton's does, which looks every 10 ms; and never closes again.
class StartGate {
 public:
  static constexpr uint64_t kOpensAfterNs = 10'000'000;

  explicit StartGate(StartConditions conditions = {})
      : conditions_(conditions), opens_ns_(conditions.queued == 0 ? 0 : kNever) {}

  /// When batches may be made, if nothing else happens, with so many requests waiting at `now_ns`:
  /// not after `now_ns` if the gate is open, kNever while too few wait.
  uint64_t OpensAt(uint64_t now_ns, size_t queued, size_t backlog = 0) {
    if (opens_ns_ == kNever && queued >= conditions_.queued && backlog >= conditions_.backlog) {
      opens_ns_ = SaturatingAdd(now_ns, kOpensAfterNs);
    }
    return opens_ns_;
  }
  bool IsOpen(uint64_t now_ns) const { return opens_ns_ <= now_ns; }
  /// Nothing more will come.
  void Open() { opens_ns_ = 0; }

 private:
  StartConditions conditions_;
  uint64_t opens_ns_;
};

}  // namespace nereid::schedule
