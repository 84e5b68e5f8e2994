// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "redis/connection_pool.h"

namespace nereid::caches {

/// Sends commands to one Redis server over pooled connections. When Redis cannot be reached,
/// commands fail at once without trying, and a thread tries to connect until Redis is back. A Redis
/// server that is down therefore costs one timeout and not one for each request. Thread-safe.
class RedisClient {
 public:
  /// Connects to Redis and authenticates. Returns the errors of TlsContext::Make and
  /// Connection::Open.
  static backend::Error Create(RedisSettings settings, std::unique_ptr<RedisClient>* client);
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  /// Runs one command. UNAVAILABLE if Redis cannot be reached or all connections are in use;
  /// INVALID_ARG if Redis replies with an error.
  backend::Error Run(std::span<const std::string_view> command, Reply* reply);

 private:
  RedisClient(RedisSettings settings, std::unique_ptr<TlsContext> tls)
      : settings_(std::move(settings)), tls_(std::move(tls)), pool_(settings_.pool_size) {}

  /// Returns which period of reaching Redis this is; nothing if Redis cannot be reached.
  std::optional<uint64_t> Period();
  /// Begins to look for Redis after a failure of a command that began in `period`. A failure of an
  /// earlier period says nothing about this one: Redis has come back since.
  void MarkDown(uint64_t period, const std::string& reason);
  /// Runs one command on the connection, which is opened if it is null.
  backend::Error Try(std::span<const std::string_view> command,
                     std::unique_ptr<Connection>* connection, Reply* reply);
  void LookForRedis();
  /// Waits for `pause`. Returns false if the client is being destroyed.
  bool Pause(std::chrono::milliseconds pause);

  const RedisSettings settings_;
  const std::unique_ptr<TlsContext> tls_;  // null without TLS
  ConnectionPool pool_;

  base::Mutex mutex_;
  base::ConditionVariable changed_;
  /// Whether the thread is trying to reach Redis.
  bool down_ NEREID_GUARDED_BY(mutex_) = false;
  uint64_t period_ NEREID_GUARDED_BY(mutex_) = 0;  // how many times Redis has come back
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  std::thread searcher_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::caches
