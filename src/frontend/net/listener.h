// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "frontend/net/accept_backoff.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/listening_socket.h"
#include "frontend/net/socket.h"

namespace nereid::frontend::net {

/// A client that has connected, and its place in the server's limit of connections.
struct Arrival {
  Socket socket;
  ConnectionLimit::Place place;
};

/// The listening socket of one event loop. All functions must be called on the loop's thread, or
/// before the loop runs.
class Listener final : private Watcher {
 public:
  using OnConnection = std::function<void(Arrival)>;

  /// `service` is the name of the front end in the log. `on_connection` must not throw; it may
  /// close the listener. If `limit` is not null, each connection has a place in it.
  Listener(EventLoop& loop, std::string service, OnConnection on_connection,
           ConnectionLimit* limit = nullptr)
      : Watcher(Rank::kNewcomer),
        loop_(loop),
        service_(std::move(service)),
        on_connection_(std::move(on_connection)),
        limit_(limit),
        backoff_(loop, [this] { Resume(); }) {}
  ~Listener() { Close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Binds and listens; see ListenOn(). Returns the endpoint, with the port that the kernel chose
  /// if the port was 0.
  base::Result<Endpoint> Listen(const Endpoint& endpoint, const ListenOptions& options);

  /// Begins to accept connections. Accepting pauses while it would fail (no descriptors, no memory,
  /// the limit of connections); clients wait in the kernel's queue in the meantime. A client whose
  /// address has as many connections as it may have is disconnected at once.
  void Accept();

  /// Accepts the clients that wait in the kernel's queue, up to a bound. For a server that stops:
  /// these clients are connected as far as they know, and Close() would reset their connections.
  void AcceptWaiting();

  /// Stops listening, and removes the file of a Unix socket. `on_connection` is not called any
  /// more.
  void Close();

 private:
  void OnReady(Ready ready) noexcept override;
  void AcceptAtMost(int count);
  bool AcceptOne();
  bool OnAcceptFailed(int error);
  void ReportFullAddress(const sockaddr& address, socklen_t size) const noexcept;
  void Pause(int error, std::chrono::milliseconds time) noexcept;
  std::string ReasonOf(int error) const;
  void Resume();

  EventLoop& loop_;
  const std::string service_;
  const OnConnection on_connection_;
  ConnectionLimit* const limit_;
  AcceptBackoff backoff_;
  ListeningSocket listening_;
  bool watched_ = false;
};

}  // namespace nereid::frontend::net
