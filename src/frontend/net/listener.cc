// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listener.h"

#include <utility>

namespace nereid::frontend::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

base::Status ListenFailure(const Endpoint& endpoint, const error_code& error) {
  const std::string place =
      "'" + endpoint.address().to_string() + ":" + std::to_string(endpoint.port()) + "'";
  if (error == asio::error::address_in_use) {
    return base::Status::Unavailable("Socket " + place + " already in use ");
  }
  return base::Status::Unavailable("cannot listen on socket " + place + ": " + error.message());
}

template <typename Acceptor>
error_code Bind(Acceptor& acceptor, const Endpoint& endpoint, bool shared) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && shared) acceptor.set_option(ReusePort(true), error);
  if (!error) acceptor.bind(endpoint, error);
  return error;
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
  asio::io_context io;
  tcp::acceptor probe(io);
  // Binding is enough: it fails where a socket listens. Listening could take a client's connection.
  const error_code error = Bind(probe, endpoint, /*shared=*/false);
  return error ? ListenFailure(endpoint, error) : base::Status::Ok();
}

base::Result<Endpoint> Listener::Listen(const Endpoint& endpoint, bool shared) {
  error_code error = Bind(acceptor_, endpoint, shared);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  Endpoint bound;
  if (!error) bound = acceptor_.local_endpoint(error);
  if (!error) return bound;
  error_code ignored;
  acceptor_.close(ignored);
  return ListenFailure(endpoint, error);
}

void Listener::Accept() {
  acceptor_.async_accept([this](const error_code& error, Socket socket) {
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) return backoff_.Retry(error, [this] { Accept(); });
    on_connection_(std::move(socket));
    if (acceptor_.is_open()) Accept();
  });
}

void Listener::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  backoff_.Cancel();
}

}  // namespace nereid::frontend::net
