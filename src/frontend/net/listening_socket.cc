// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listening_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

namespace nereid::frontend::net {
namespace {

int Enable(const Socket& socket, int option) {
  const int on = 1;
  return setsockopt(socket.descriptor(), SOL_SOCKET, option, &on, sizeof(on)) == 0 ? 0 : errno;
}

int BindTcp(const Socket& socket, const Endpoint& endpoint, bool shared) {
  if (const int error = Enable(socket, SO_REUSEADDR); error != 0) return error;
  if (shared) {
    if (const int error = Enable(socket, SO_REUSEPORT); error != 0) return error;
  }
  return bind(socket.descriptor(), endpoint.data(), endpoint.size()) == 0 ? 0 : errno;
}

int BindAndListen(const Socket& socket, const Endpoint& endpoint, bool shared) {
  const int error =
      endpoint.is_unix()
          ? bind(socket.descriptor(), endpoint.data(), endpoint.size()) == 0 ? 0 : errno
          : BindTcp(socket, endpoint, shared);
  if (error != 0) return error;
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
  } else if (const int error = BindAndListen(result.socket, endpoint, options.shared); error != 0) {
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
