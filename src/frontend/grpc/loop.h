// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "frontend/grpc/connection.h"
#include "frontend/grpc/server_context.h"
#include "frontend/net/server_loop.h"

namespace nereid::frontend::grpc {

/// gRPC on one event loop: makes the connections, and flushes them at the end of each turn, so that
/// the responses of one turn to one client go out with one system call.
class Loop final : public net::Protocol,
                   private Connection::Host,
                   private net::EventLoop::TurnListener {
 public:
  Loop(ServerContext& context, net::ServerLoop& server_loop);

  // net::Protocol
  std::shared_ptr<net::Connection> Connect(std::unique_ptr<net::ByteStream> client) override;
  void OnLoopEnded() override { to_flush_.clear(); }

 private:
  // Connection::Host
  net::EventLoop& event_loop() override { return server_loop_.event_loop(); }
  void FlushLater(std::shared_ptr<Connection> connection) override;
  void EndTurn() override;
  void Closed(Connection& connection) override { server_loop_.Remove(connection); }

  void OnTurnEnd() noexcept override;

  ServerContext& context_;
  net::ServerLoop& server_loop_;
  std::vector<std::shared_ptr<Connection>> to_flush_;
};

}  // namespace nereid::frontend::grpc
