// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>
#include <signal.h>

#include <memory>
#include <string>

#include "nereid/backend/error.h"
#include "redis/redis_settings.h"

namespace nereid::caches {

struct FreeTlsContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeTlsSession {
  void operator()(SSL* session) const { SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeTlsSession>;

/// The state that all TLS connections to one Redis server share: certificates, keys and trusted
/// authorities. The server must present a certificate that a trusted authority has signed. The
/// certificate must be for `sni` if that is set. Otherwise it must be for the host if the system's
/// authorities are trusted, because they sign certificates for everybody. A certificate signed by
/// the user's own authority is accepted for any name, as in Triton's cache.
class TlsContext {
 public:
  /// Loads the files. INVALID_ARG with the name of a file that cannot be used.
  static backend::Error Make(const RedisSettings& settings, std::unique_ptr<TlsContext>* context);

  /// Creates a session for a connected, nonblocking socket.
  backend::Error NewSession(int socket, TlsSession* session);

 private:
  TlsContext() = default;
  std::unique_ptr<SSL_CTX, FreeTlsContext> context_;
  std::string ask_for_;   // name to send as SNI; empty for none
  std::string expected_;  // name that the certificate must have; empty for any
};

/// Blocks SIGPIPE in the calling thread while the object lives, so that writing to a closed
/// connection is an error. OpenSSL cannot ask the system for that, and a process that does not
/// ignore SIGPIPE would end.
class NoBrokenPipe {
 public:
  NoBrokenPipe();
  ~NoBrokenPipe();
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t before_;
  bool was_pending_ = false;
};

/// Returns the oldest OpenSSL error of this thread, and clears the queue of errors.
std::string TlsErrorText();

}  // namespace nereid::caches
