// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nereid::frontend::net {

/// The certificate files of a server that speaks TLS. All are in PEM form.
struct TlsFiles {
  /// The server's certificate, then those between it and the root.
  std::string certificate;
  /// The private key of the certificate, without a passphrase.
  std::string key;
  /// The certificates that verify those of clients. Used only if `mutual` is true.
  std::string client_roots;
  /// Whether each client must have a certificate.
  bool mutual = false;
  /// Names the flags in messages: with "--grpc-" the files are those of --grpc-server-cert,
  /// --grpc-server-key and --grpc-root-cert.
  std::string flag_prefix;
};

/// What a server that speaks TLS needs to know.
struct TlsSettings {
  TlsFiles files;
  std::string service;  // names the front end in messages: "HTTP", "gRPC"
  /// The protocols that the server speaks in TLS, in the order of preference, by their names in
  /// ALPN (RFC 7301). A client that offers only others is refused.
  std::vector<std::string> protocols;
  /// Whether a client that offers no protocol is refused, too.
  bool protocol_is_required = false;
};

}  // namespace nereid::frontend::net
