// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "redis/connection.h"

namespace nereid::caches {

/// Permission to use one connection of a bounded number, and perhaps an open one to use.
/// Thread-safe.
class ConnectionPool {
 public:
  explicit ConnectionPool(size_t size) : free_(size) {}

  /// Waits for a permission. False when the time is over. `connection` becomes an idle one, or
  /// null where there is none: the caller opens one.
  bool Acquire(std::chrono::milliseconds timeout, std::unique_ptr<Connection>* connection);

  /// Gives the permission back. A connection that works is kept for the next.
  void Return(std::unique_ptr<Connection> connection);

  /// Closes the idle connections: the other side has gone.
  void CloseIdle();

  /// Keeps an open connection that nobody had permission for.
  void AddIdle(std::unique_ptr<Connection> connection);

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  size_t free_;                                    // guarded by mutex_: permissions
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_; at most free_ of them
};

}  // namespace nereid::caches
