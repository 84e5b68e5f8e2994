// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::base {

/// While one lives, StartThread succeeds `left` more times and then fails, as it does at the limits
/// of a system. For tests; one at a time.
class ThreadShortage {
 public:
  explicit ThreadShortage(int64_t left) { Left().store(left); }
  ~ThreadShortage() { Left().store(kNone); }
  ThreadShortage(const ThreadShortage&) = delete;
  ThreadShortage& operator=(const ThreadShortage&) = delete;

  /// Takes one of those that are left; true if there was none.
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
