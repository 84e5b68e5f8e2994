// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listening_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "frontend/net/pacing.h"

namespace nereid::frontend::net {
namespace {

int Enable(const Socket& socket, int option, int level = SOL_SOCKET) {
  const int on = 1;
  return setsockopt(socket.descriptor(), level, option, &on, sizeof(on)) == 0 ? 0 : errno;
}

int BindTcp(const Socket& socket, const Endpoint& endpoint, bool shared) {
  if (const int error = Enable(socket, SO_REUSEADDR); error != 0) return error;
  if (shared) {
    if (const int error = Enable(socket, SO_REUSEPORT); error != 0) return error;
  }
  return bind(socket.descriptor(), endpoint.data(), endpoint.size()) == 0 ? 0 : errno;
}

/// Sets what every accepted socket should have. Linux copies these options of the listening socket,
/// which saves two system calls for each connection. Nothing depends on their success.
void SetOptionsOfClients(const Socket& socket) {
  (void)Enable(socket, TCP_NODELAY, IPPROTO_TCP);
  (void)Enable(socket, SO_KEEPALIVE);
}

int BindAndListen(const Endpoint& endpoint, bool shared, ListeningSocket* result) {
  const Socket& socket = result->socket;
  const int error =
      endpoint.is_unix()
          ? bind(socket.descriptor(), endpoint.data(), endpoint.size()) == 0 ? 0 : errno
          : BindTcp(socket, endpoint, shared);
  if (error != 0) return error;
  if (!endpoint.is_unix()) {
    SetOptionsOfClients(socket);
    result->congestion_control = EndPacingOfClients(socket);
  }
  return listen(socket.descriptor(), SOMAXCONN) == 0 ? 0 : errno;
}

Socket OpenSocket(const Endpoint& endpoint) {
  return Socket(::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

base::Result<ListeningSocket> ListenOn(const Endpoint& endpoint, const ListenOptions& options) {
  ListeningSocket result;
  result.socket = OpenSocket(endpoint);
  if (!result.socket.is_open()) return ListenFailure(endpoint, errno);
  if (!endpoint.path().empty()) {
    NEREID_RETURN_IF_ERROR(
        ListenOnFile(result.socket.descriptor(), endpoint, options.unix_socket_mode, &result.file));
  } else if (const int error = BindAndListen(endpoint, options.shared, &result); error != 0) {
    return ListenFailure(endpoint, error);
  }
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  auto* const address = reinterpret_cast<sockaddr*>(&bound);
  if (getsockname(result.socket.descriptor(), address, &size) != 0) {
    return ListenFailure(endpoint, errno);
  }
  result.endpoint = Endpoint(address, size);
  return result;
}

base::Status CheckPortIsFree(const Endpoint& endpoint) {
  // Binding is sufficient, because it fails if a socket listens. Listening could take a client's
  // connection.
  const Socket probe = OpenSocket(endpoint);
  const int error = probe.is_open() ? BindTcp(probe, endpoint, /*shared=*/false) : errno;
  return error == 0 ? base::Status::Ok() : ListenFailure(endpoint, error);
}

}  // namespace nereid::frontend::net
