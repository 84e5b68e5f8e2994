// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

#include <array>
#include <memory>
#include <string>

#include "base/file_version.h"
#include "base/result.h"
#include "frontend/net/tls_settings.h"

namespace nereid::frontend::net {

/// Returns the reason of the oldest OpenSSL error of this thread, and forgets all of them.
std::string TlsErrorText();

/// The certificate, the key and the rules with which a server begins TLS sessions. Never modified:
/// changed files give new credentials. Thread-safe.
///
/// The rules: TLS 1.2 and 1.3, cipher suites with forward secrecy and authenticated encryption,
/// OpenSSL's security level of the system; no renegotiation, no compression, no early data; session
/// tickets, whose keys OpenSSL makes anew for each object of this class.
class TlsCredentials {
 public:
  /// Reads the files. Blocks. INVALID_ARG, naming the flag and the file, if one is missing, cannot
  /// be read or used, or if the key does not belong to the certificate.
  static base::Result<std::shared_ptr<const TlsCredentials>> Load(const TlsSettings& settings);

  /// Returns a session for one connection, which must not outlive this object. The caller frees it.
  /// Null if memory has run out.
  SSL* NewSession() const;

  /// Of the certificate, the key and the client roots.
  using Versions = std::array<base::FileVersion, 3>;
  /// Returns what differs when the files may have changed. Blocks for system calls.
  static Versions VersionsOf(const TlsFiles& files);

  ~TlsCredentials();
  TlsCredentials(const TlsCredentials&) = delete;
  TlsCredentials& operator=(const TlsCredentials&) = delete;

 private:
  explicit TlsCredentials(SSL_CTX* context) : context_(context) {}
  base::Status SetRules(const TlsSettings& settings);

  SSL_CTX* const context_;
  std::string protocols_;  // in the form of the wire: each name behind its length
};

}  // namespace nereid::frontend::net
