// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

namespace nereid::frontend::net {

/// Limits the number of open connections. The loops of a server share it, and several servers may
/// share it. Thread-safe.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(size_t max) : max_(max) {}

  /// Counts one more connection. Returns false, and counts nothing, if there are already `max`.
  bool Take() noexcept {
    size_t open = open_.load(std::memory_order_relaxed);
    do {
      if (open >= max_) return false;
    } while (!open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed));
    return true;
  }
  /// Called when a counted connection has ended.
  void Give() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

  size_t max() const { return max_; }

 private:
  const size_t max_;
  std::atomic<size_t> open_{0};
};

}  // namespace nereid::frontend::net
