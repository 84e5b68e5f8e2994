// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// The batch that a planner has collected so far. Times of arrival, in nanoseconds.
struct FormingBatch {
  uint64_t size = 0;
  uint64_t oldest_ns = 0;
  uint64_t newest_ns = 0;
};

/// Says how large a batch may get and how long it may be held back, where that is learned from what
/// executions take instead of being configured. Called by one scheduler, under its lock.
class BatchLimits {
 public:
  virtual ~BatchLimits() = default;

  /// The most that a batch whose oldest request came at `oldest_ns` should hold; at least 1.
  virtual uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const = 0;

  /// Until when this batch, which may still grow, should be held back; at most `now_ns`: not
  /// longer.
  virtual uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) = 0;

  /// This batch goes to an instance.
  virtual void OnTaken(const FormingBatch& batch, uint64_t now_ns) = 0;

  /// A batch was executed: its size, how long its oldest request waited, how long it took.
  virtual void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns) = 0;
};

}  // namespace nereid::schedule
