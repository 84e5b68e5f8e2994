// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::schedule {

/// The batch that a planner has collected so far. `oldest_ns` and `newest_ns` are times of arrival.
struct FormingBatch {
  uint64_t size = 0;
  uint64_t oldest_ns = 0;
  uint64_t newest_ns = 0;
};

/// Limits the size of a batch and the time it is held back, from measured execution times instead
/// of the configuration. Called by one scheduler, under its lock,
/// except size_limit().
class BatchLimits {
 public:
  /// What WaitUntil returns if no batch is held back.
  static constexpr uint64_t kNoHold = 0;

  virtual ~BatchLimits() = default;

  /// Returns the largest size for a batch whose oldest request arrived at `oldest_ns`; at least 1.
  virtual uint64_t SizeLimit(uint64_t oldest_ns, uint64_t now_ns) const = 0;

  /// Returns the time until which `batch`, which may still grow, should be held back. A time not
  /// after `now_ns` means that the batch should run.
  virtual uint64_t WaitUntil(const FormingBatch& batch, uint64_t now_ns) = 0;

  /// Records that `batch` goes to an instance.
  virtual void OnTaken(const FormingBatch& batch, uint64_t now_ns) = 0;

  /// Records that the execution of a batch ended at `now_ns`: its size, the time its oldest request
  /// waited, the duration.
  virtual void OnExecuted(uint64_t size, uint64_t wait_ns, uint64_t execution_ns,
                          uint64_t now_ns) = 0;

  /// Returns the current size limit, for the metrics. May be called on any thread.
  virtual uint64_t size_limit() const = 0;
};

}  // namespace nereid::schedule
