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

/// A connected socket, with or without TLS. The hiredis of Debian 12 has no TLS support and owns
/// its sockets, so hiredis is used only for the protocol. Not thread-safe.
class Stream {
 public:
  /// Connects to the first address of the host that answers within the connect timeout, and does
  /// the TLS handshake if `tls` is not null. UNAVAILABLE with the reason if that fails.
  static backend::Error Connect(const RedisSettings& settings, TlsContext* tls,
                                std::unique_ptr<Stream>* stream);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Writes all bytes. Each wait is at most the socket timeout. UNAVAILABLE if that fails.
  backend::Error Write(const char* data, size_t size);

  /// Reads at least one and at most `size` bytes. UNAVAILABLE on a timeout or if the connection is
  /// closed.
  backend::Error Read(char* data, size_t size, size_t* read);

 private:
  explicit Stream(int socket, const RedisSettings& settings);
  backend::Error Handshake(const RedisSettings& settings, TlsContext& tls);
  /// Waits until the socket can be read or written.
  backend::Error Wait(bool write, std::chrono::milliseconds timeout);
  /// Waits for what OpenSSL needs after an SSL function has returned `result`. Success means that
  /// the caller should call the function again.
  backend::Error WaitForTls(int result, std::chrono::milliseconds timeout);

  const int socket_;
  const std::string address_;
  const std::chrono::milliseconds timeout_;
  TlsSession tls_;  // null without TLS
};

}  // namespace nereid::caches
