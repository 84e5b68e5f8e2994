// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "redis/connection.h"

namespace nereid::caches {

/// Limits the number of connections in use, and keeps idle connections for reuse. Thread-safe.
class ConnectionPool {
 public:
  explicit ConnectionPool(size_t size) : free_(size) {}

  /// Waits for permission to use a connection. Returns false after `timeout` (0 waits without
  /// limit). Sets `connection` to an idle connection, or leaves it null if the caller has to open
  /// one.
  bool Acquire(std::chrono::milliseconds timeout, std::unique_ptr<Connection>* connection);

  /// Gives the permission back. A connection that is not broken is kept as an idle one.
  void Return(std::unique_ptr<Connection> connection);

  /// Closes the idle connections, because the server has disconnected.
  void CloseIdle();

  /// Adds an idle connection for which nobody had a permission.
  void AddIdle(std::unique_ptr<Connection> connection);

 private:
  base::Mutex mutex_;
  base::ConditionVariable returned_;
  size_t free_ NEREID_GUARDED_BY(mutex_);  // number of free permissions
  /// At most free_ connections.
  std::vector<std::unique_ptr<Connection>> idle_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::caches
