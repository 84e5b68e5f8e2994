// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "frontend/http/connection_exchange.h"
#include "frontend/http/connection_state.h"
#include "frontend/http/exchange_owner.h"
#include "frontend/http/loop_services.h"
#include "frontend/http/preface_matcher.h"
#include "frontend/http/reply_writer.h"
#include "frontend/http/request_reader.h"
#include "frontend/http/tick_deadline.h"
#include "frontend/net/byte_stream.h"
#include "frontend/net/connection.h"
#include "frontend/net/out_queue.h"

namespace nereid::frontend::http {

/// One client of HTTP/1: the state machine between the RequestReader, the exchange, the
/// ReplyWriter and the bytes to send. Reads a request, lets the handler answer it, writes the
/// reply, and only then looks at the next request, so replies have the order of the requests. While
/// a request is answered, the connection goes on reading, to notice when the client goes away and
/// to take in what it sends ahead. A client that has only finished sending (FIN) gets its replies;
/// one that is gone is given up.
///
/// A client that begins with the preface of HTTP/2 is handed over to another connection.
///
/// A client's share of one turn of the loop is bounded: bytes read and written, and requests that
/// it has sent ahead. The rest waits until the other connections have had their turns.
///
/// A connection belongs to one loop: everything happens on the loop's thread, except for the
/// functions marked "any thread".
class Connection final : public net::Connection,
                         public ExchangeOwner,
                         public std::enable_shared_from_this<Connection>,
                         private net::ByteStream::Owner {
 public:
  Connection(std::shared_ptr<LoopServices> loop, std::unique_ptr<net::ByteStream> client);

  // net::Connection
  void Start() override;
  void BeginDrain() override;
  /// Cancels the request, too. Drops what the core still sends.
  void Close() override;

  void CheckTimeout(uint64_t tick) override;

  // ExchangeOwner
  void OnCompleted(const std::shared_ptr<DeadlineSink>& sink) noexcept override;
  void OnStream(const std::shared_ptr<ReplyStream>& stream) noexcept override;
  void OnDeadline() noexcept override;
  std::shared_ptr<ExchangeOwner> Share() override { return shared_from_this(); }  // any thread

 private:
  using State = ConnectionState;

  // net::ByteStream::Owner
  void OnReadable() noexcept override;
  void OnWritable() noexcept override;
  void OnLost() noexcept override;

  void WaitReadable();
  void WatchForLoss();
  void Receive();
  bool ReceiveBody(size_t* left);
  bool ReceiveInput(size_t* left);
  bool OnNoInput(net::ByteStream::State state);
  void Read(std::string_view input);
  void ReadAhead();
  void OnTurn() noexcept;
  void OnRead(RequestReader::Result result);
  void Dispatch();
  void SendPieces();
  void Write();
  void OnWritten();

  const std::shared_ptr<LoopServices> loop_;
  std::unique_ptr<net::ByteStream> client_;  // null once the client is handed over
  ConnectionExchange exchange_;
  PrefaceMatcher preface_;
  RequestReader reader_;
  net::OutQueue unsent_;
  ReplyWriter writer_{unsent_};

  State state_ = State::kReading;
  bool end_of_input_ = false;       // the client has finished sending
  bool close_after_reply_ = false;  // the reply says so
  bool refused_ = false;            // the rest of the input cannot be read
  bool turn_is_posted_ = false;     // OnTurn() will be called
  bool had_large_body_ = false;     // of the request before
  bool has_replied_ = false;
  bool stream_has_more_ = false;  // in kStreaming: more pieces came while others were written
  int taken_ahead_ = 0;           // requests taken from the kept input in this turn
  TickDeadline deadline_;         // when the client has taken too long
  TickDeadline probe_;            // when a client that has finished sending is probed
  net::MemberTask<Connection, &Connection::OnTurn> turn_{*this};
};

}  // namespace nereid::frontend::http
