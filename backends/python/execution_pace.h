// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nereid::python {

/// Decides how many batches a worker may have at once, from the durations of its executions. The
/// worker executes one at a time; the others lie in its socket, so that it finds the next one
/// without sleeping. A batch in the socket cannot be taken back, so there is more than one only if
/// their executions together take about two milliseconds. Not thread-safe.
class ExecutionPace {
 public:
  static constexpr size_t kMostBatches = 8;
  /// What the batches of a worker may take together, in nanoseconds.
  static constexpr uint64_t kAheadNs = 2'000'000;

  /// Records an execution. The average keeps 7/8 of its value at each step: one execution of 16 ms
  /// ends the sending ahead, and it takes some twenty short ones to resume it.
  void Record(uint64_t execution_ns) { average_ns_ += execution_ns / 8 - average_ns_ / 8; }

  /// Returns the most batches that the worker may have, at least 1.
  size_t depth() const {
    return static_cast<size_t>(
        std::clamp<uint64_t>(kAheadNs / std::max<uint64_t>(average_ns_, 1), 1, kMostBatches));
  }

 private:
  /// Until executions have shown that they are short, they count as long.
  uint64_t average_ns_ = 16'000'000;
};

}  // namespace nereid::python
