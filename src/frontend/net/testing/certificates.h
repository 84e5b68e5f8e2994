// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/temporary_directory.h"
#include "frontend/net/tls_settings.h"

namespace nereid::frontend::net::testing {

/// A certificate and its key, as PEM texts.
struct Certificate {
  std::string text;
  std::string key;
};

/// Makes a certificate with a new key (P-256) for the name `CN=<name>,O=test` and the host
/// "localhost". `issuer` signs it; null: it signs itself, and may sign others. It is valid from one
/// hour ago for `seconds` from now on.
Certificate Issue(const std::string& name, const Certificate* issuer = nullptr,
                  long seconds = 86400);

/// The files of a server and of its clients, in a temporary directory.
class CertificateFiles {
 public:
  CertificateFiles();

  /// Returns the settings of a server with these files.
  TlsSettings Settings(bool mutual = false) const;
  std::string path(const std::string& name) const { return directory_->path() + "/" + name; }
  /// Writes a file. Its time of modification differs from that of an earlier file of the name.
  void Write(const std::string& name, const std::string& text) const;

  const Certificate authority = Issue("authority");
  const Certificate server = Issue("server", &authority);
  const Certificate client = Issue("client", &authority);

 private:
  const std::unique_ptr<base::TemporaryDirectory> directory_;
};

}  // namespace nereid::frontend::net::testing
