// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "frontend/net/endpoint.h"
#include "frontend/net/socket.h"
#include "frontend/net/socket_file.h"

namespace nereid::frontend::net {

struct ListenOptions {
  bool shared = false;             // whether other sockets may listen on the same port
  mode_t unix_socket_mode = 0660;  // of a Unix socket's file
};

/// A socket that listens, and what ends with it.
struct ListeningSocket {
  Socket socket;
  SocketFile file;    // of a Unix socket
  Endpoint endpoint;  // with the port that the kernel chose if the port was 0
  /// What RestorePacing() gives to the clients of other machines; empty if they have it already.
  std::string congestion_control;
};

/// Binds and listens. The accepted sockets of TCP send small pieces at once (TCP_NODELAY) and
/// notice a client whose machine has gone (SO_KEEPALIVE); none of them is paced (pacing.h). Returns
/// UNAVAILABLE with the reason, or INVALID_ARG if the path of a Unix socket is that of another kind
/// of file.
base::Result<ListeningSocket> ListenOn(const Endpoint& endpoint, const ListenOptions& options);

/// Returns UNAVAILABLE "Socket 'A:P' already in use " (Triton's text) if another socket listens on
/// `endpoint`, which must be one of TCP. The event loops share a port (SO_REUSEPORT), which would
/// permit another process of the same user to share it as well. Therefore this function binds the
/// port exclusively for a moment.
base::Status CheckPortIsFree(const Endpoint& endpoint);

}  // namespace nereid::frontend::net
