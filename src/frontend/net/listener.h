// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "frontend/net/accept_backoff.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/socket.h"

namespace nereid::frontend::net {

using Endpoint = boost::asio::ip::tcp::endpoint;

/// Returns the endpoint of `address`, an IPv4 or IPv6 address or a host name; the first address of
/// a name is used. Returns INVALID_ARG, naming `service` ("HTTP", "gRPC") and the address, for a
/// name that cannot be resolved. Uses the system's resolver, so it may block.
base::Result<Endpoint> ResolveEndpoint(const std::string& service, const std::string& address,
                                       uint16_t port);

/// Returns UNAVAILABLE "Socket 'A:P' already in use " (Triton's text) if another socket listens on
/// `endpoint`. The event loops share a port (SO_REUSEPORT), which would permit another process of
/// the same user to share it as well. Therefore this function binds the port exclusively for a
/// moment.
base::Status CheckPortIsFree(const Endpoint& endpoint);

/// The listening socket of one event loop. All functions must be called on the loop's thread, or
/// before the loop runs.
class Listener final : private Watcher {
 public:
  using OnConnection = std::function<void(Socket)>;

  /// `service` is the name of the front end in the log. `on_connection` must not throw; it may
  /// close the listener. If `limit` is not null, each connection is counted in it, and the receiver
  /// must uncount the connection at its end.
  Listener(EventLoop& loop, std::string service, OnConnection on_connection,
           ConnectionLimit* limit = nullptr)
      : loop_(loop),
        service_(std::move(service)),
        on_connection_(std::move(on_connection)),
        limit_(limit),
        backoff_(loop, [this] { Resume(); }) {}
  ~Listener() { Close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Binds and listens. Returns the endpoint, with the port that the kernel chose if the port was
  /// 0. `shared` permits other sockets on the same port. Returns UNAVAILABLE with the reason.
  base::Result<Endpoint> Listen(const Endpoint& endpoint, bool shared);

  /// Begins to accept connections. Accepting pauses while it would fail (no descriptors, no memory,
  /// the limit of connections); clients wait in the kernel's queue in the meantime.
  void Accept();

  /// Stops listening. `on_connection` is not called any more.
  void Close();

 private:
  void OnReady(Ready ready) noexcept override;
  bool AcceptOne();
  void Pause(int error, std::chrono::milliseconds time) noexcept;
  std::string ReasonOf(int error) const;
  void Resume();

  EventLoop& loop_;
  const std::string service_;
  const OnConnection on_connection_;
  ConnectionLimit* const limit_;
  AcceptBackoff backoff_;
  Socket socket_;
  bool watched_ = false;
};

}  // namespace nereid::frontend::net
