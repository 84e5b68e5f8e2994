// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "base/mutex.h"

namespace nereid::server {

/// Returns the bytes of memory that belong to a process alone, from the text of
/// /proc/<pid>/status: RssAnon, and with `shared` also RssShmem. Pages of files are not counted,
/// because the kernel can drop them.
uint64_t ParseOwnMemory(std::string_view status, bool shared);

/// Returns the bytes of this process and of the processes that it has started: the processes of
/// Python models have the memory of their models.
uint64_t OwnMemory();

/// Measures the memory of loads. Thread-safe.
class MemoryMeter {
 public:
  using ReadMemory = std::function<uint64_t()>;

  /// `read` replaces the reading of /proc in tests; null: OwnMemory.
  explicit MemoryMeter(ReadMemory read = {}) : read_(std::move(read)) {}

  /// Runs `load` and returns by how many bytes the memory has grown meanwhile; 0 if it has not. One
  /// load runs at a time, so that none is counted for another one; but a load that takes longer
  /// than kPatience, perhaps because it hangs, holds no other. What requests allocate in that time
  /// is counted, too.
  uint64_t Measure(const std::function<void()>& load);

 private:
  static constexpr std::chrono::seconds kPatience{30};

  /// Waits for the load in progress. Returns whether this load is the only one.
  bool Begin();

  const ReadMemory read_;
  base::Mutex mutex_;
  base::ConditionVariable ended_;
  bool is_measuring_ NEREID_GUARDED_BY(mutex_) = false;
};

/// The size of one model version, from its loads. A single measurement can be wrong in both
/// directions: requests allocate and free memory at the same time, and the first load of a
/// framework prepares it. So the median of the last loads counts. Not thread-safe.
class SizeEstimate {
 public:
  void Add(uint64_t measured);
  /// Returns the median of the last kMost measurements; of an even number, the greater one of the
  /// two in the middle. 0 without a measurement.
  uint64_t Median() const;

 private:
  static constexpr size_t kMost = 5;
  std::deque<uint64_t> last_;
};

}  // namespace nereid::server
