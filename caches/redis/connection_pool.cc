// SPDX-License-Identifier: Apache-2.0
#include "redis/connection_pool.h"

#include <utility>

namespace nereid::caches {

bool ConnectionPool::Acquire(std::chrono::milliseconds timeout,
                             std::unique_ptr<Connection>* connection) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  base::MutexLock lock(mutex_);
  while (free_ == 0) {
    if (timeout.count() == 0) {
      returned_.Wait(lock);
    } else if (!returned_.WaitUntil(lock, deadline) && free_ == 0) {
      return false;
    }
  }
  --free_;
  if (!idle_.empty()) {
    *connection = std::move(idle_.back());
    idle_.pop_back();
  }
  return true;
}

void ConnectionPool::Return(std::unique_ptr<Connection> connection) {
  if (connection != nullptr && connection->broken()) connection.reset();
  base::MutexLock lock(mutex_);
  ++free_;
  if (connection != nullptr) idle_.push_back(std::move(connection));
  returned_.NotifyOne();
}

void ConnectionPool::CloseIdle() {
  // Declared before the lock, so the connections are closed after it is released.
  std::vector<std::unique_ptr<Connection>> closed;
  base::MutexLock lock(mutex_);
  closed.swap(idle_);
}

void ConnectionPool::AddIdle(std::unique_ptr<Connection> connection) {
  base::MutexLock lock(mutex_);
  // Keeps the number of open connections at the pool's size: each permission in use may belong to
  // one.
  if (idle_.size() < free_) idle_.push_back(std::move(connection));
}

}  // namespace nereid::caches
