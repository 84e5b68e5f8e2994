// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "frontend/net/socket_address.h"

namespace nereid::frontend::net {

/// Where a server listens: an address and a port of TCP, or a Unix socket, which is a file or a
/// name in the kernel's abstract namespace.
class Endpoint {
 public:
  Endpoint() = default;
  /// `size` must be at most that of sockaddr_storage.
  Endpoint(const sockaddr* address, size_t size);

  bool is_unix() const { return family() == AF_UNIX; }
  /// Returns the path of a Unix socket's file; empty for the others.
  std::string path() const;
  /// Returns the port; 0 for a Unix socket.
  uint16_t port() const;
  /// Returns "127.0.0.1:8000", "[::1]:8000", "unix:/run/a.sock" or "unix-abstract:name".
  std::string text() const { return SocketAddressText(*data(), size()); }

  int family() const { return address_.ss_family; }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return size_; }

  bool operator==(const Endpoint& other) const;

 private:
  sockaddr_storage address_ = {};
  socklen_t size_ = 0;
};

/// Returns the endpoint of `address`: an IPv4 or IPv6 address, a host name, of which the first
/// address is used, or a Unix socket (see unix_address.h), for which `port` is ignored. Returns
/// INVALID_ARG, naming `service` ("HTTP", "gRPC") and the address, for a name that cannot be
/// resolved and for a Unix socket without a name or with one that is too long. Uses the system's
/// resolver, so it may block.
base::Result<Endpoint> ResolveEndpoint(const std::string& service, const std::string& address,
                                       uint16_t port);

/// Returns UNAVAILABLE with the reason why no socket listens on `endpoint`; for EADDRINUSE the text
/// is Triton's: "Socket 'A:P' already in use ".
base::Status ListenFailure(const Endpoint& endpoint, int error);

}  // namespace nereid::frontend::net
