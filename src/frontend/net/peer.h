// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::frontend::net {

/// The client at the other end of a connection, as the system and TLS know it.
struct Peer {
  /// "192.0.2.1:53412", "[2001:db8::1]:53412"; "unix" for a client of a Unix socket, which has no
  /// address. Empty: unknown, because the connection is lost.
  std::string address;
  /// The user and the group of a client of a Unix socket when it connected (SO_PEERCRED). A client
  /// of another user namespace has the ids to which that namespace maps.
  std::optional<uint32_t> uid = {}, gid = {};
  /// The subject of the client's verified certificate (RFC 4514); empty without one.
  std::string tls_subject = {};
};

/// Asks the system for the peer of a connected socket, TCP or Unix. May throw std::bad_alloc.
Peer PeerOfSocket(int descriptor);

}  // namespace nereid::frontend::net
