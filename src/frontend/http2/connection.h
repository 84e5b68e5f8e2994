// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontend/http2/session.h"
#include "frontend/http2/session_options.h"
#include "frontend/http2/stream.h"
#include "frontend/http2/turn_budget.h"
#include "frontend/net/connection.h"
#include "frontend/net/event_loop.h"

namespace nereid::frontend::http2 {

/// One client's stream of bytes with its session. Loop thread only.
class Connection final : public net::Connection,
                         public std::enable_shared_from_this<Connection>,
                         private net::ByteStream::Owner,
                         private net::Timer,
                         private Session::Transport {
 public:
  /// The event loop, as the connection sees it.
  class Host {
   public:
    virtual net::EventLoop& event_loop() = 0;
    /// Returns a buffer for the bytes of a client, which the connections of the loop share: it is
    /// another's after the call in which it was filled.
    virtual std::span<char> read_buffer() = 0;
    /// Has connection->Flush() called at the end of the loop's turn.
    virtual void FlushLater(std::shared_ptr<Connection> connection) = 0;
    /// Flushes all connections that asked for it, because the loop's turn ends.
    virtual void EndTurn() = 0;
    /// Forgets the connection, which is closed.
    virtual void Closed(Connection& connection) = 0;

   protected:
    ~Host() = default;
  };

  /// How much a connection reads at once; the usual size of Host::read_buffer().
  static constexpr size_t kReadSize = size_t{64} << 10;

  /// `options` and `host` must outlive the connection.
  Connection(const SessionOptions& options, Host& host, std::unique_ptr<net::ByteStream> client,
             std::unique_ptr<StreamMaker> maker);

  // net::Connection
  void Start() override;
  /// Does the same as Start() for a client whose stream is open, because another protocol was
  /// possible before. The first 24 bytes of the client's preface were received, and then
  /// `received`.
  void TakeOver(std::string_view received);
  /// Refuses new requests and ends idle streams. The connection ends with the running ones.
  void BeginDrain() override;
  /// Cancels the running requests, too.
  void Close() override;

  /// Sends what waits to be sent, in a turn of its own.
  void Flush();

 private:
  // net::ByteStream::Owner
  void OnReadable() noexcept override;
  void OnWritable() noexcept override;
  void OnLost() noexcept override;

  // Session::Transport
  void RequestFlush() override;
  const net::Peer& peer() override;
  void OnDeadline() override;  // net::Timer
  void BeginUpkeep();
  void Upkeep();
  void ArmUpkeep();
  void Read();
  void TakeIn();
  void TakeInLater();
  /// Moves the bytes that were not taken in to kept_, at the end of the connection's turn.
  void KeepUnread();
  /// Returns the session, which is made when the client first says something.
  Session& session();
  void OnTurn() noexcept;
  void WriteOut();
  void Write();
  /// Returns whether the connection has used its time, which begins with the first call.
  bool TurnIsOver() { return budget_.IsOver(host_.event_loop().NowNs()); }
  void WaitUntilWritable();
  /// Runs `body`; an exception closes the connection. Ends the loop's turn in either case.
  template <typename Body>
  void Turn(const Body& body) noexcept;

  const SessionOptions& options_;
  Host& host_;
  const std::unique_ptr<net::ByteStream> client_;
  const std::unique_ptr<StreamMaker> maker_;
  std::unique_ptr<Session> session_;  // null before the first byte, and when closed
  std::string kept_;                  // what unread_ views between two turns
  std::string_view unread_;           // bytes that the session has not received yet
  std::optional<net::Peer> peer_;     // once it was asked for
  uint64_t preface_deadline_ns_ = 0;
  uint64_t blocked_ns_ = 0;  // since when the client takes nothing
  TurnBudget budget_;
  bool flush_requested_ = false;
  bool waits_for_room_ = false;  // unread_ waits until the session is no longer overfull
  bool blocked_ = false;         // the client takes nothing now
  bool closed_ = false;
  // When a turn may go on with what is unread.
  net::MemberTask<Connection, &Connection::OnTurn> turn_{*this};
};

}  // namespace nereid::frontend::http2
