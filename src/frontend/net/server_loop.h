// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "frontend/net/connection.h"
#include "frontend/net/connection_limit.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/listener.h"
#include "frontend/net/timer.h"
#include "frontend/net/tls_loop.h"

namespace nereid::frontend::net {

class ServerLoop;

/// A front end on one of its loops. Loop thread only. It may outlive its loop, because connections
/// may still be referenced.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Returns the connection of a new client. May throw std::bad_alloc.
  virtual std::shared_ptr<Connection> Connect(std::unique_ptr<ByteStream> stream) = 0;
  /// Called when the server stops, before the connections are drained.
  virtual void BeginDrain() {}
  /// Called when the loop has ended. Only its inbox may be used afterwards.
  virtual void OnLoopEnded() {}
};

/// One loop of a server: its listening socket, if it has one, and its connections. The server
/// creates and destroys it; all other functions except BeginDrain() and CloseAll() must be called
/// on the loop's thread.
class ServerLoop {
 public:
  /// `service` is the name of the front end in the log. `limit` may be null.
  ServerLoop(std::unique_ptr<EventLoop> loop, std::string service, ConnectionLimit* limit);
  ~ServerLoop();

  /// Sets the protocol that serves the connections. Must be called before Run().
  void SetProtocol(std::shared_ptr<Protocol> protocol) { protocol_ = std::move(protocol); }
  /// Makes the connections speak TLS. At most `max_handshakes` wait for their clients. Must be
  /// called before Run(). The context must outlive this object.
  void UseTls(TlsContext& context, size_t max_handshakes) {
    tls_ = std::make_unique<TlsLoop>(*loop_, context, max_handshakes);
  }
  /// Binds and listens; see Listener. Must be called before Run().
  base::Result<Endpoint> Listen(const Endpoint& endpoint, const ListenOptions& options) {
    return listener_.Listen(endpoint, options);
  }
  /// Makes this loop accept for all `loops`, itself among them: each of them in turn serves one of
  /// the clients. Must be called before Run(). The loops must exist until this one has ended.
  void AcceptFor(std::vector<ServerLoop*> loops) { accepts_for_ = std::move(loops); }

  /// Serves until the loop is drained or all connections are closed. The calling thread becomes the
  /// loop's thread.
  void Run();

  /// Stops accepting, and makes Run() return when the last connection has ended. May be called on
  /// any thread.
  void BeginDrain() noexcept { loop_->Post(drain_task_, nullptr); }
  /// Does the same as BeginDrain(), and closes all connections now. May be called on any thread.
  void CloseAll() noexcept { loop_->Post(close_task_, nullptr); }

  EventLoop& event_loop() { return *loop_; }
  ConnectionList& connections() { return connections_; }
  /// Removes a connection that has closed.
  void Remove(Connection& connection) noexcept;

 private:
  class Handover;

  void OnArrival(Arrival arrival) noexcept;
  void Add(Arrival arrival) noexcept;
  std::unique_ptr<ByteStream> NewStream(Socket socket);
  void Drain();
  void DrainConnections();
  void CloseConnections();
  template <typename Step>
  void Protect(Connection& connection, const Step& step) noexcept;
  void EndIfDrained();

  const std::unique_ptr<EventLoop> loop_;
  const std::string service_;
  Listener listener_;
  std::vector<ServerLoop*> accepts_for_;  // empty: only for itself
  size_t next_ = 0;                       // of accepts_for_
  std::unique_ptr<TlsLoop> tls_;          // null without TLS
  std::shared_ptr<Protocol> protocol_;
  ConnectionList connections_;
  bool draining_ = false;
  MemberTimer<ServerLoop, &ServerLoop::DrainConnections> drain_end_{*this};
  MemberTask<ServerLoop, &ServerLoop::Drain> drain_task_{*this};
  MemberTask<ServerLoop, &ServerLoop::CloseConnections> close_task_{*this};
};

}  // namespace nereid::frontend::net
