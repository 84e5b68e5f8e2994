// SPDX-License-Identifier: Apache-2.0
// The bytes of one client connection, over TLS or in the clear.
#pragma once

#include <sys/types.h>

#include <cstddef>

struct ssl_st;

namespace nereid::bench {

class Link {
 public:
  /// Takes over a connected, blocking socket with TCP_NODELAY; makes it non-blocking.
  explicit Link(int fd) : fd_(fd) {}
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Begins TLS, without a check of the server's certificate. Returns false with the reason in
  /// errno. `protocol` is the protocol in ALPN.
  bool StartTls(const char* protocol);
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

}  // namespace nereid::bench
