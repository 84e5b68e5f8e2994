// SPDX-License-Identifier: Apache-2.0
// The bytes of one client connection, over TLS or in the clear.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace nereid::load {

/// How to check a server's certificate.
struct TlsSettings {
  bool verify = true;   // the certificate, and that it names the host
  std::string ca_file;  // PEM, the authorities to trust; empty: those of the system
};

/// The settings in OpenSSL's form; shared by all connections.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// Returns null, with the reason in `*error`, if the file of authorities cannot be used.
TlsContext MakeTlsContext(const TlsSettings& settings, std::string* error);

class Link {
 public:
  /// Takes over a connected, blocking socket with TCP_NODELAY; makes it non-blocking.
  explicit Link(int fd) : fd_(fd) {}
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Begins TLS. Returns false with the reason in `*error`. `protocol` is the protocol in ALPN,
  /// `host` the name that the certificate must have if it is checked.
  bool StartTls(const TlsContext& context, const char* protocol, const std::string& host,
                std::string* error);
  bool MakeNonBlocking();

  int fd() const { return fd_; }
  /// Does the same as send(2).
  ssize_t Send(const void* data, size_t size);
  /// Does the same as recv(2), but returns fewer bytes than `size` only if no more have arrived.
  ssize_t Receive(void* data, size_t size);
  /// Receives up to `size` bytes and drops them.
  ssize_t Discard(size_t size);

 private:
  ssize_t Failure(int result);

  const int fd_;
  ssl_st* tls_ = nullptr;
};

}  // namespace nereid::load
