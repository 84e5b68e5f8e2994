// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>

#include "load/link.h"

namespace nereid::load {

enum class Protocol { kHttp, kGrpc };

/// The server that requests are sent to.
struct Target {
  Protocol protocol = Protocol::kHttp;
  std::string host = "127.0.0.1";
  uint16_t port = 8000;
  std::string unix_socket;  // a path; empty: TCP
  TlsContext tls;           // null: in the clear
  std::string token;        // sent as "authorization: Bearer" over gRPC; empty: none

  // What Resolve has found.
  sockaddr_storage address{};
  socklen_t address_size = 0;

  /// Returns "host:port" for the request's head.
  std::string Authority() const { return host + ":" + std::to_string(port); }
};

/// Finds the address of the target's host, once for all connections. Returns false with the reason
/// in `*error`.
bool Resolve(Target* target, std::string* error);

/// Connects to a resolved target and waits for the result, at most 10 s. Returns null with the
/// reason in `*error` if that fails. The socket is non-blocking and has TCP_NODELAY.
std::unique_ptr<Link> Connect(const Target& target, std::string* error);

}  // namespace nereid::load
