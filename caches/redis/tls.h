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

/// What all TLS connections to one Redis share: certificates, keys and what is trusted. The server
/// must show a certificate that a trusted authority signed. Its name must be `sni` where that is
/// given, and the host's where the system's authorities are trusted, which sign for everybody; an
/// authority of one's own vouches for the server by itself, as in Triton's cache.
class TlsContext {
 public:
  /// INVALID_ARG naming the file that cannot be used.
  static backend::Error Make(const RedisSettings& settings, std::unique_ptr<TlsContext>* context);

  /// A session for a connected, non-blocking socket.
  backend::Error NewSession(int socket, TlsSession* session);

 private:
  TlsContext() = default;
  std::unique_ptr<SSL_CTX, FreeTlsContext> context_;
  std::string ask_for_;   // SNI; "" for none
  std::string expected_;  // name in the certificate; "" for any
};

/// While it lives a write to a closed connection is an error and no signal, which OpenSSL cannot
/// tell the system and which would end a process that does not ignore SIGPIPE.
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

/// The oldest error of this thread in OpenSSL's queue, which is emptied.
std::string TlsErrorText();

}  // namespace nereid::caches
