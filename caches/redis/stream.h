// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "nereid/backend/error.h"
#include "redis/redis_settings.h"
#include "redis/tls.h"

namespace nereid::caches {

/// A connected socket, with TLS or without. hiredis of Debian 12 knows no TLS, and its sockets are
/// its own: so it is used for the protocol, and the bytes are carried here. For one thread.
class Stream {
 public:
  /// Connects to the first of the host's addresses that answers, within the timeout, and shakes
  /// hands where `tls` is not null. UNAVAILABLE with the reason.
  static backend::Error Connect(const RedisSettings& settings, TlsContext* tls,
                                std::unique_ptr<Stream>* stream);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Sends all of it. Each wait is at most the socket timeout.
  backend::Error Write(const char* data, size_t size);

  /// Reads at least one byte and at most `size`.
  backend::Error Read(char* data, size_t size, size_t* read);

 private:
  explicit Stream(int socket, const RedisSettings& settings);
  backend::Error Handshake(const RedisSettings& settings, TlsContext& tls);
  /// Waits until the socket can be read or written.
  backend::Error Wait(bool write, std::chrono::milliseconds timeout);
  /// What to do after an SSL function returned `result`: success means call it again.
  backend::Error WaitForTls(int result, std::chrono::milliseconds timeout);

  const int socket_;
  const std::string address_;
  const std::chrono::milliseconds timeout_;
  TlsSession tls_;  // null without TLS
};

}  // namespace nereid::caches
