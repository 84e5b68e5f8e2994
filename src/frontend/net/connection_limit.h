// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace nereid::frontend::net {

/// Bounds the connections that are open at one time. The loops of a server share it, and servers
/// may. Thread-safe.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(size_t max) : max_(max) {}

  /// Counts one more connection; returns false, and counts nothing, if there are `max` already.
  bool Take() noexcept {
    size_t open = open_.load(std::memory_order_relaxed);
    do {
      if (open >= max_) return false;
    } while (!open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed));
    return true;
  }
  /// One that was counted has ended.
  void Give() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

  size_t max() const { return max_; }

 private:
  const size_t max_;
  std::atomic<size_t> open_{0};
};

}  // namespace nereid::frontend::net
