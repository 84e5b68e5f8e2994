// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "schedule/batch.h"

namespace nereid::schedule {

/// What to do now that an instance is free.
struct Decision {
  std::optional<Batch> batch;  // run this
  uint64_t wake_ns = 0;        // without a batch: ask again at this time; 0 = when a request comes
};

/// Decides which queued requests run together. Pure: it holds the queue, but neither locks nor
/// threads, and time comes in as a parameter. Not thread-safe.
class BatchPlanner {
 public:
  virtual ~BatchPlanner() = default;

  /// Queues a normalised request that arrived at `now_ns`.
  virtual void Push(RequestPtr request, uint64_t now_ns) = 0;

  /// The next batch for an instance that is free at `now_ns`.
  virtual Decision Next(uint64_t now_ns) = 0;

  virtual size_t size() const = 0;
};

}  // namespace nereid::schedule
