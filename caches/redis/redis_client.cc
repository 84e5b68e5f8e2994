// SPDX-License-Identifier: Apache-2.0
#include "redis/redis_client.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "nereid/backend/log.h"

namespace nereid::caches {

using backend::Error;
using std::chrono::milliseconds;

namespace {

/// The pauses between two attempts to connect: the first one, doubled each time up to the longest.
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
/// The longest attempt to connect. The destructor has to wait for it, so it must not be unlimited.
constexpr milliseconds kLookTimeout{1000};

milliseconds Bounded(milliseconds timeout) {
  return timeout.count() == 0 ? kLookTimeout : std::min(timeout, kLookTimeout);
}

}  // namespace

Error RedisClient::Create(RedisSettings settings, std::unique_ptr<RedisClient>* client) {
  std::unique_ptr<TlsContext> tls;
  if (settings.tls.enabled) NEREID_BACKEND_TRY(TlsContext::Make(settings, &tls));
  std::unique_ptr<RedisClient> made(new RedisClient(std::move(settings), std::move(tls)));
  std::unique_ptr<Connection> connection;
  NEREID_BACKEND_TRY(Connection::Open(made->settings_, made->tls_.get(), &connection));
  made->pool_.AddIdle(std::move(connection));
  *client = std::move(made);
  return {};
}

RedisClient::~RedisClient() {
  std::thread searcher;
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    searcher.swap(searcher_);
    changed_.NotifyAll();
  }
  if (searcher.joinable()) searcher.join();
}

std::optional<uint64_t> RedisClient::Period() {
  base::MutexLock lock(mutex_);
  return down_ ? std::nullopt : std::optional(period_);
}

Error RedisClient::Try(std::span<const std::string_view> command,
                       std::unique_ptr<Connection>* connection, Reply* reply) {
  if (*connection == nullptr) {
    NEREID_BACKEND_TRY(Connection::Open(settings_, tls_.get(), connection));
  }
  return (*connection)->Command(command, reply);
}

Error RedisClient::Run(std::span<const std::string_view> command, Reply* reply) {
  const std::optional<uint64_t> period = Period();
  if (!period) {
    return {TRITONSERVER_ERROR_UNAVAILABLE,
            "Redis at " + settings_.Address() + " cannot be reached at present"};
  }
  std::unique_ptr<Connection> connection;
  if (!pool_.Acquire(settings_.wait_timeout, &connection)) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, "all " + std::to_string(settings_.pool_size) +
                                                " connections to Redis at " + settings_.Address() +
                                                " are in use (see pool_size and wait_timeout)"};
  }
  // Only a reused connection justifies a second attempt. A failure on a new one means that Redis is
  // down.
  const bool reused = connection != nullptr;
  Error error = Try(command, &connection, reply);
  if (reused && connection->broken()) {
    // Redis may have been restarted since the connection was used. A new connection shows whether
    // it is running.
    pool_.CloseIdle();
    connection.reset();
    error = Try(command, &connection, reply);
  }
  const bool lost = !error.ok() && (connection == nullptr || connection->broken());
  pool_.Return(std::move(connection));
  if (lost) MarkDown(*period, error.message());
  return error;
}

void RedisClient::MarkDown(uint64_t period, const std::string& reason) {
  std::thread finished;
  {
    base::MutexLock lock(mutex_);
    if (down_ || stopping_ || period != period_) return;
    down_ = true;
    finished.swap(searcher_);  // from an earlier loss of Redis; it has ended or is about to end
    try {
      searcher_ = std::thread([this] { LookForRedis(); });
    } catch (const std::system_error&) {
      down_ = false;  // without a thread, each request tries to connect by itself
    }
  }
  // Joined without the lock, which the thread may still need to end.
  if (finished.joinable()) finished.join();
  pool_.CloseIdle();
  NEREID_BACKEND_LOG(WARN, "Redis is lost, responses are not cached until it is back: " + reason);
}

bool RedisClient::Pause(milliseconds pause) {
  const auto deadline = std::chrono::steady_clock::now() + pause;
  base::MutexLock lock(mutex_);
  while (!stopping_ && changed_.WaitUntil(lock, deadline)) {
  }
  return !stopping_;
}

void RedisClient::LookForRedis() {
  RedisSettings settings = settings_;
  settings.connect_timeout = Bounded(settings.connect_timeout);
  settings.socket_timeout = Bounded(settings.socket_timeout);
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    if (!Pause(pause)) return;
    std::unique_ptr<Connection> connection;
    const Error opened =
        backend::Catching([&] { return Connection::Open(settings, tls_.get(), &connection); });
    if (!opened.ok()) continue;
    {
      base::MutexLock lock(mutex_);
      down_ = false;
      ++period_;
    }
    NEREID_BACKEND_LOG(INFO, "Redis at " + settings_.Address() + " is back");
    return;
  }
}

}  // namespace nereid::caches
