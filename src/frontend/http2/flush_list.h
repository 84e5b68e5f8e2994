// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "frontend/http2/connection.h"
#include "frontend/net/server_loop.h"

namespace nereid::frontend::http2 {

/// The HTTP/2 connections of one event loop: flushes those that have something to send at the end
/// of each turn, so that the responses of one turn to one client go out with one system call. Loop
/// thread only.
class FlushList final : public Connection::Host, private net::EventLoop::TurnListener {
 public:
  /// `shares_loop`: the loop also serves connections of another protocol, in whose events a
  /// response may become complete.
  FlushList(net::ServerLoop& server_loop, bool shares_loop);

  /// Forgets the connections, because the loop has ended.
  void Clear() { to_flush_.clear(); }

  // Connection::Host
  net::EventLoop& event_loop() override { return server_loop_.event_loop(); }
  std::span<char> read_buffer() override { return {read_buffer_.get(), Connection::kReadSize}; }
  void FlushLater(std::shared_ptr<Connection> connection) override;
  void EndTurn() override;
  void Closed(Connection& connection) override { server_loop_.Remove(connection); }

 private:
  void OnTurnEnd() noexcept override;
  void OnWake() {}

  net::ServerLoop& server_loop_;
  const bool shares_loop_;
  /// The kernel provides memory only for the pages that are written.
  const std::unique_ptr<char[]> read_buffer_{new char[Connection::kReadSize]};
  std::vector<std::shared_ptr<Connection>> to_flush_;
  /// A loop calls OnTurnEnd() only in turns with timers or tasks: this makes such a turn.
  net::MemberTask<FlushList, &FlushList::OnWake> wake_{*this};
};

}  // namespace nereid::frontend::http2
