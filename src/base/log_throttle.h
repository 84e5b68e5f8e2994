// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::base {

/// Limits how often an error that occurs with every request is logged. Thread-safe.
class LogThrottle {
 public:
  static constexpr uint64_t kIntervalNs = 10'000'000'000;

  /// Returns whether the caller should write a line: the first time, and then once in ten seconds.
  /// Sets `left_out` to the number of lines that were suppressed since the last one.
  bool Admit(uint64_t now_ns, uint64_t* left_out) {
    uint64_t next = next_ns_.load(std::memory_order_relaxed);
    if (now_ns < next ||
        !next_ns_.compare_exchange_strong(next, now_ns + kIntervalNs, std::memory_order_relaxed)) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    *left_out = left_out_.exchange(0, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<uint64_t> next_ns_{0};
  std::atomic<uint64_t> left_out_{0};
};

}  // namespace nereid::base
