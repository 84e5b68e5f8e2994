// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "frontend/net/testing/certificates.h"

namespace nereid::frontend::net::testing {

/// A client of TLS without a socket: the test moves the encrypted bytes.
class TlsClient {
 public:
  struct Options {
    Certificate authority = {};      // which must have signed the server's certificate
    Certificate certificate = {};    // the client's own; empty: none
    std::string protocols = {};      // ALPN in the form of the wire: "\2h2"
    int max_version = 0;             // TLS1_2_VERSION; 0: the newest
    SSL_SESSION* session = nullptr;  // to resume
  };

  explicit TlsClient(const Options& options);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  /// Takes encrypted bytes of the server, and continues the handshake or looks for alerts.
  void Receive(std::string_view encrypted);
  /// Returns the encrypted bytes for the server, and forgets them.
  std::string TakeOutput();

  /// Returns whether the handshake is done.
  bool IsConnected() const;
  /// Returns the plain bytes that have arrived.
  std::string Read();
  void Write(std::string_view plain);
  /// Announces the end of the output (close_notify).
  void EndOutput();
  /// Requests new keys of both sides (TLS 1.3).
  void UpdateKeys();
  /// Begins another handshake (TLS 1.2).
  void Renegotiate();

  /// Returns whether the server has announced its end.
  bool server_has_ended() const;
  /// Returns the description of the last alert of the server; empty without one.
  const std::string& alert() const { return alert_; }
  /// Returns the common name of the server's certificate.
  std::string ServerName() const;
  /// Returns the protocol that was selected (ALPN).
  std::string Protocol() const;
  bool resumed() const;
  /// Returns the session, to resume it later. The caller frees it.
  SSL_SESSION* TakeSession();
  SSL* session() { return session_; }

 private:
  static void OnEvent(const SSL* session, int where, int value);

  SSL_CTX* const context_;
  SSL* session_ = nullptr;
  std::string alert_;
};

}  // namespace nereid::frontend::net::testing
