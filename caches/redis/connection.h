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

/// One authenticated connection to Redis. For one thread at a time.
class Connection {
 public:
  /// Connects, logs in, chooses the database, and says PING. UNAVAILABLE, or Redis's own refusal
  /// (a wrong password) as INVALID_ARG.
  static backend::Error Open(const RedisSettings& settings, TlsContext* tls,
                             std::unique_ptr<Connection>* connection);

  /// Sends a command and waits for its reply. An error that Redis replies is INVALID_ARG; after any
  /// other failure the connection is broken.
  backend::Error Command(std::span<const std::string_view> words, Reply* reply);

  /// What is between the two sides is not known any more: to be closed.
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
