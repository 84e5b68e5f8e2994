// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "frontend/grpc/loop_services.h"
#include "frontend/grpc/session.h"
#include "frontend/net/listener.h"

namespace nereid::frontend::grpc {

/// One client's socket with its session. Loop thread only.
class Connection final : public std::enable_shared_from_this<Connection>,
                         private Session::Transport,
                         private Timed {
 public:
  /// What a connection needs of its loop.
  class Host {
   public:
    virtual LoopServices& services() = 0;
    /// Calls connection->Flush() at the end of the loop's turn.
    virtual void FlushLater(std::shared_ptr<Connection> connection) = 0;
    /// The turn ends: flushes everybody who asked.
    virtual void EndTurn() = 0;
    /// The connection is closed; the host forgets it.
    virtual void Closed(Connection& connection) = 0;

   protected:
    ~Host() = default;
  };

  Connection(ServerContext& context, Host& host, net::Socket socket);

  void Start();
  void Flush();
  void GoAway();
  /// Cancels the running calls and closes the socket.
  void Close();

  size_t place = 0;  // for the host's list

 private:
  void RequestFlush() override;
  void OnDeadline() override;
  void Upkeep();
  void ArmUpkeep();
  void Read();
  void OnRead(const boost::system::error_code& error, size_t size);
  void TakeIn();
  void TakeInLater();
  void Write();
  void WaitUntilWritable();
  void OnWritable(const boost::system::error_code& error);
  /// Runs `body`; an exception closes the connection. Ends the loop's turn either way.
  template <typename Body>
  void Turn(const Body& body) noexcept;

  ServerContext& context_;
  Host& host_;
  net::Socket socket_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<char[]> buffer_;
  std::string_view unread_;  // in buffer_: what the session has not been given yet
  uint64_t preface_deadline_ns_ = 0;
  uint64_t upkeep_ns_ = 0;   // when the next upkeep is due; 0: not armed
  uint64_t blocked_ns_ = 0;  // since when the socket takes nothing
  bool flush_requested_ = false;
  bool waits_for_room_ = false;  // to take in what is unread
  bool blocked_ = false;         // the socket's send buffer is full
  bool closed_ = false;
};

}  // namespace nereid::frontend::grpc
