// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

namespace nereid::frontend::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Used as an errno when the limit of connections is reached.
constexpr int kAtLimit = 0;
/// The maximum number of connections that are accepted in one turn.
constexpr int kAcceptsPerTurn = 16;

base::Status ListenFailure(const Endpoint& endpoint, int error) {
  const std::string place =
      "'" + endpoint.address().to_string() + ":" + std::to_string(endpoint.port()) + "'";
  if (error == EADDRINUSE) return base::Status::Unavailable("Socket " + place + " already in use ");
  return base::Status::Unavailable("cannot listen on socket " + place + ": " +
                                   std::generic_category().message(error));
}

int Enable(const Socket& socket, int option) {
  const int on = 1;
  return setsockopt(socket.descriptor(), SOL_SOCKET, option, &on, sizeof(on)) == 0 ? 0 : errno;
}

/// Opens and binds a socket. Returns 0 or an errno.
int Bind(const Endpoint& endpoint, bool shared, Socket* bound) {
  Socket socket(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         IPPROTO_TCP));
  if (!socket.is_open()) return errno;
  if (const int error = Enable(socket, SO_REUSEADDR); error != 0) return error;
  if (shared) {
    if (const int error = Enable(socket, SO_REUSEPORT); error != 0) return error;
  }
  if (bind(socket.descriptor(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return errno;
  }
  *bound = std::move(socket);
  return 0;
}

/// Listens. Returns 0 or an errno, and the address with the port that the kernel chose.
int ListenOn(const Socket& socket, Endpoint* bound) {
  if (listen(socket.descriptor(), SOMAXCONN) != 0) return errno;
  socklen_t size = static_cast<socklen_t>(bound->capacity());
  if (getsockname(socket.descriptor(), bound->data(), &size) != 0) return errno;
  bound->resize(size);
  return 0;
}

}  // namespace

base::Result<Endpoint> ResolveEndpoint(const std::string& service, const std::string& address,
                                       uint16_t port) {
  error_code error;
  const asio::ip::address literal = asio::ip::make_address(address, error);
  if (!error) return Endpoint(literal, port);
  asio::io_context io;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(address, std::to_string(port), error);
  if (error || found.empty()) {
    return base::Status::InvalidArgument("the " + service + " address '" + address +
                                         "' cannot be resolved: " + error.message());
  }
  return found.begin()->endpoint();
}

base::Status CheckPortIsFree(const Endpoint& endpoint) {
  // Binding is sufficient, because it fails if a socket listens. Listening could take a client's
  // connection.
  Socket probe;
  const int error = Bind(endpoint, /*shared=*/false, &probe);
  return error == 0 ? base::Status::Ok() : ListenFailure(endpoint, error);
}

base::Result<Endpoint> Listener::Listen(const Endpoint& endpoint, bool shared) {
  Socket socket;
  Endpoint bound;
  int error = Bind(endpoint, shared, &socket);
  if (error == 0) error = ListenOn(socket, &bound);
  if (error != 0) return ListenFailure(endpoint, error);
  socket_ = std::move(socket);
  return bound;
}

void Listener::Accept() {
  if (!socket_.is_open() || watched_) return;
  watched_ = loop_.Watch(socket_.descriptor(), *this, {.reading = true});
  if (!watched_) Pause(errno, kAcceptPause);
}

void Listener::OnReady(Ready) noexcept {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    if (!AcceptOne() || !socket_.is_open()) return;
  }
}

/// Accepts one connection. Returns whether to try the next one.
bool Listener::AcceptOne() {
  if (limit_ != nullptr && !limit_->Take()) {
    Pause(kAtLimit, kAcceptPause);
    return false;
  }
  Socket socket(accept4(socket_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    on_connection_(std::move(socket));
    return true;
  }
  const int error = errno;
  if (limit_ != nullptr) limit_->Give();
  if (error == EAGAIN || error == EWOULDBLOCK) return false;
  const std::chrono::milliseconds pause = PauseAfterAccept(error);
  if (pause.count() == 0) return true;
  Pause(error, pause);
  return false;
}

void Listener::Pause(int error, std::chrono::milliseconds time) noexcept {
  if (watched_) loop_.Change(socket_.descriptor(), *this, {});
  backoff_.Pause(time);
  try {
    LogAcceptFailure(service_, ReasonOf(error));
  } catch (const std::exception&) {
    // There is no memory for the message.
  }
}

std::string Listener::ReasonOf(int error) const {
  if (error != kAtLimit) return ReasonOfAcceptFailure(error);
  return std::to_string(limit_->max()) + " are open, which is the limit; raise the number of " +
         "file descriptors that the process may have (ulimit -n)";
}

void Listener::Resume() {
  if (!watched_) return Accept();
  loop_.Change(socket_.descriptor(), *this, {.reading = true});
}

void Listener::Close() {
  backoff_.Cancel();
  if (std::exchange(watched_, false)) loop_.Unwatch(socket_.descriptor(), *this);
  socket_.Close();
}

}  // namespace nereid::frontend::net
