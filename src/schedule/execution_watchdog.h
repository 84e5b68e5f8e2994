// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "schedule/worker_pool.h"

namespace nereid::schedule {

/// Finds the workers of a model whose execution takes longer than a limit. Has no lock, thread or
/// timer; the scheduler calls it under the mutex that guards the workers.
class ExecutionWatchdog {
 public:
  /// `limit_ns` 0: no execution is too long.
  ExecutionWatchdog(std::string model_name, uint64_t limit_ns)
      : model_name_(std::move(model_name)), limit_ns_(limit_ns) {}

  /// Returns the limit, 0 for none.
  uint64_t limit_ns() const { return limit_ns_; }
  /// Returns UNAVAILABLE, with the first worker that is stuck at `now_ns`, or OK.
  base::Status Check(const WorkerPool& workers, uint64_t now_ns) const;
  /// Returns a message for each worker that is stuck and not reported yet, and marks it as
  /// reported. Sets `next_ns` to the time at which the next worker may be stuck; kNever: none is
  /// busy.
  std::vector<std::string> Report(const WorkerPool& workers, uint64_t now_ns,
                                  uint64_t* next_ns) const;

 private:
  std::string Describe(const Worker& worker, uint64_t now_ns) const;

  const std::string model_name_;
  const uint64_t limit_ns_;
};

}  // namespace nereid::schedule
