// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <span>
#include <string_view>

#include "redis/stream.h"

namespace nereid::caches {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

/// An authenticated connection to Redis. Not thread-safe.
class Connection {
 public:
  /// Connects, authenticates, selects the database and sends PING. UNAVAILABLE if Redis cannot be
  /// reached; INVALID_ARG with Redis's message if Redis refuses (for example, a wrong password).
  static backend::Error Open(const RedisSettings& settings, TlsContext* tls,
                             std::unique_ptr<Connection>* connection);

  /// Sends a command and waits for its reply. INVALID_ARG if Redis replies with an error. After any
  /// other failure the connection is broken.
  backend::Error Command(std::span<const std::string_view> words, Reply* reply);

  /// Returns whether the state of the protocol is unknown, so that the connection must be closed.
  bool broken() const { return broken_; }

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };
  Connection(std::unique_ptr<Stream> stream, redisReader* reader)
      : stream_(std::move(stream)), reader_(reader) {}
  backend::Error Receive(Reply* reply);

  const std::unique_ptr<Stream> stream_;
  const std::unique_ptr<redisReader, FreeReader> reader_;
  bool broken_ = false;
};

}  // namespace nereid::caches
