// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "frontend/net/connection.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/listener.h"

namespace nereid::frontend::net {

class ServerLoop;

/// What a front end does on one of its loops. Loop thread only. It may outlive its loop, through
/// connections that somebody still holds.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Returns the connection of a client that has connected. May throw std::bad_alloc.
  virtual std::shared_ptr<Connection> Connect(std::unique_ptr<ByteStream> stream) = 0;
  /// The server stops. The connections are told next.
  virtual void BeginDrain() {}
  /// The loop has ended: nothing of it but its inbox may be used any more.
  virtual void OnLoopEnded() {}
};

/// One loop of a server: its listening socket and its connections. Made and destroyed by the
/// server; in between everything but BeginDrain() and CloseAll() is for the loop's thread.
class ServerLoop {
 public:
  /// `service` names the front end in the log. `limit` may be null.
  ServerLoop(std::unique_ptr<EventLoop> loop, std::string service, ConnectionLimit* limit);
  ~ServerLoop();

  /// Sets what serves the connections. Before Run().
  void SetProtocol(std::shared_ptr<Protocol> protocol) { protocol_ = std::move(protocol); }
  /// Binds and listens; see Listener. Before Run().
  base::Result<Endpoint> Listen(const Endpoint& endpoint, bool shared) {
    return listener_.Listen(endpoint, shared);
  }

  /// Serves until the loop is drained, or all is closed. The calling thread becomes the loop's.
  void Run();

  /// Stops accepting, and has Run() return when the last connection has ended. Any thread.
  void BeginDrain() noexcept { loop_->Post(drain_task_, nullptr); }
  /// The same, and closes all connections now. Any thread.
  void CloseAll() noexcept { loop_->Post(close_task_, nullptr); }

  EventLoop& event_loop() { return *loop_; }
  ConnectionList& connections() { return connections_; }
  /// Forgets a connection that has closed.
  void Remove(Connection& connection) noexcept;

 private:
  void Add(Socket socket) noexcept;
  void Drain();
  void CloseConnections();
  template <typename Step>
  void Protect(Connection& connection, const Step& step) noexcept;
  void EndIfDrained();

  const std::unique_ptr<EventLoop> loop_;
  const std::string service_;
  ConnectionLimit* const limit_;
  Listener listener_;
  std::shared_ptr<Protocol> protocol_;
  ConnectionList connections_;
  bool draining_ = false;
  MemberTask<ServerLoop, &ServerLoop::Drain> drain_task_{*this};
  MemberTask<ServerLoop, &ServerLoop::CloseConnections> close_task_{*this};
};

}  // namespace nereid::frontend::net
