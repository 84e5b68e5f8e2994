// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::base {

/// A simulated limit on threads, for tests. While an object lives, StartThread succeeds `left` more
/// times and then fails, as it does at the limits of a system. At most one object may exist at a
/// time.
class ThreadShortage {
 public:
  explicit ThreadShortage(int64_t left) { Left().store(left); }
  ~ThreadShortage() { Left().store(kNone); }
  ThreadShortage(const ThreadShortage&) = delete;
  ThreadShortage& operator=(const ThreadShortage&) = delete;

  /// Uses up one of the remaining threads. Returns true if none was left.
  static bool IsFelt() {
    return Left().load(std::memory_order_relaxed) != kNone && Left().fetch_sub(1) <= 0;
  }

 private:
  static constexpr int64_t kNone = INT64_MAX;
  static std::atomic<int64_t>& Left() {
    static std::atomic<int64_t> left{kNone};
    return left;
  }
};

}  // namespace nereid::base
