// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "frontend/net/accept_backoff.h"

namespace nereid::frontend::net {

using Endpoint = boost::asio::ip::tcp::endpoint;
/// A client's socket. The executor's type is spelled out so that Asio calls it without a virtual
/// function.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// Returns where `address`, an IPv4 or IPv6 address or a host name, says to listen. The first
/// address of a name counts. Returns INVALID_ARG, naming `service` ("HTTP", "gRPC") and the
/// address, for a name that cannot be resolved. Asks the system's resolver, and so may block.
base::Result<Endpoint> ResolveEndpoint(const std::string& service, const std::string& address,
                                       uint16_t port);

/// Returns UNAVAILABLE "Socket 'A:P' already in use " (Triton's text) when another socket listens
/// on `endpoint`. The event loops share a port among themselves (SO_REUSEPORT), which would let
/// another process of the same user share it as well: the port is taken alone for a moment to find
/// that out.
base::Status CheckPortIsFree(const Endpoint& endpoint);

/// The listening socket of one event loop. Everything on the loop's thread, or before the loop
/// runs.
class Listener {
 public:
  using OnConnection = std::function<void(Socket)>;

  /// `service` names the front end in the log. `on_connection` must not throw.
  Listener(boost::asio::io_context& context, const std::string& service, OnConnection on_connection)
      : on_connection_(std::move(on_connection)), acceptor_(context), backoff_(context, service) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Binds and listens. Returns the endpoint with the port that the kernel chose, if it was 0.
  /// `shared`: other sockets may listen there too. Returns UNAVAILABLE with the reason.
  base::Result<Endpoint> Listen(const Endpoint& endpoint, bool shared);

  /// Begins to accept connections. After a failure accepting goes on, after a pause where the next
  /// accept would fail as well.
  void Accept();

  /// Stops listening. `on_connection` is not called any more.
  void Close();

 private:
  const OnConnection on_connection_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      acceptor_;
  AcceptBackoff backoff_;
};

}  // namespace nereid::frontend::net
