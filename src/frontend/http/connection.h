// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/deadline_sink.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/loop_services.h"
#include "frontend/http/refusal.h"
#include "frontend/http/reply_stream.h"
#include "frontend/http/request_parser.h"
#include "frontend/net/listener.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

using net::Socket;

/// One client. Reads a request, lets the handler answer it, writes the answer, and only then looks
/// at the next one, so answers have the order of the requests. While the handler works, reading
/// goes on, to notice when the client goes away and to take in what it sends ahead. A client that
/// has only finished sending (FIN) gets its answers; one that is gone is given up.
///
/// What a client can make the connection do in one turn of its loop is bounded: bytes read and
/// written, and requests that it sent ahead. What is left waits until others had their turns.
///
/// System calls are made directly on the non-blocking socket; Asio tells when it is ready. Lives on
/// one loop: everything happens on the loop's thread, but for the functions marked "any thread".
class Connection final : public Exchange,
                         public AnswerTaker,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<LoopServices> loop, Socket socket);
  ~Connection() override;

  void Start();
  /// Ends the connection now. What the core still sends is dropped.
  void Close();
  /// Called about once a second.
  void CheckTimeout(uint64_t tick);
  /// The server stops: closes the connection unless it is being answered; then it ends with that.
  void BeginDrain();
  /// The answer of the request at hand is there; of the sink, if it went through one.
  void Complete(std::shared_ptr<DeadlineSink> sink) noexcept override;  // any thread
  /// Called by the loop, after Complete.
  void OnCompleted(const std::shared_ptr<DeadlineSink>& sink);
  /// Called by the loop, after `stream` has woken the connection.
  void OnStream(const std::shared_ptr<ReplyStream>& stream);
  /// Drops an answer that nobody will write. By the loop, or after its end.
  void Abandon(const std::shared_ptr<DeadlineSink>& sink);

  // Exchange
  void Finish() noexcept override;  // any thread
  std::shared_ptr<request::ResponseSink> BecomeSink(
      std::shared_ptr<request::Cancellation> cancellation) override;
  std::shared_ptr<ReplyStream> BeginStream(std::shared_ptr<request::Cancellation> cancellation,
                                           const StreamForm& form) override;
  void ResignSink() override;
  void ContinueWith(std::function<void()> next) override { next_ = std::move(next); }
  bool IsGone() const noexcept override { return gone_.load(std::memory_order_relaxed); }
  std::shared_ptr<Exchange> Share() override { return shared_from_this(); }
  void Send(std::unique_ptr<request::InferenceResponse> response,
            bool final) noexcept override;  // any thread

  size_t index_in_loop = 0;  // for the loop's own use

 private:
  enum class State {
    kHead,         // waiting for, or in, a head
    kBody,         // in a body with a length
    kChunkedBody,  // in a chunked body
    kBusy,         // the handler works
    kWriting,      // the answer is being written
    kStreaming,    // the answer is being written in pieces, as they come
    kLingering,    // answered and shut down; reads until the client has seen it
    kClosed,
  };

  void OnReadable();
  void OnWritable();
  void ReadMore();
  bool ReadBody(size_t* left);
  bool ReadInput(size_t* left);
  bool OnNothing(bool end, bool lost);
  void TakeInput(std::string_view input);
  void TakeAhead();
  void TakeAheadLater();
  void OnTurn();
  void OnEndOfInput();
  bool IsLost();
  bool IsAnswering() const {
    return state_ == State::kBusy || state_ == State::kWriting || state_ == State::kStreaming;
  }

  // Each takes what it needs from `input` and returns whether to go on with the rest.
  bool ParseHead(std::string_view* input);
  bool BeginBody(std::string_view* input);
  bool ParseChunks(std::string_view* input);

  size_t BodyOffset(uint64_t body_size) const;
  void NoteProgress();
  void TakeBody();
  void DropBody();
  void DropReceived();
  void DropReply();
  void Free(memory::HostBuffer buffer);
  void Dispatch();
  void Refuse(int status, std::string_view message);
  void Refuse(const Refusal& refusal) { Refuse(refusal.status, refusal.text); }
  void RefuseMalformed(const boost::system::error_code& error);
  void WatchDeadline();
  void ForgetDeadline();
  void StartTimer(std::function<void()> on_deadline);
  void OnDeadline(const std::shared_ptr<DeadlineSink>& sink);
  void OnStreamDeadline(const std::shared_ptr<ReplyStream>& stream);
  void ForgetStream();
  void SendReady();
  void BeginStreamedReply(int status);
  void OnReadyWritten();
  void AppendStatusAndFields();
  void BuildHead();
  bool MakeAnswer();
  void WriteReply();
  void WriteLater();
  void StampTrace(std::string_view name);
  void OnWritten();
  void Linger();
  void WaitReadable();
  void WaitWritable();
  void WaitLost();
  void Probe();
  void SendContinue();
  void SetDeadline(uint64_t ticks);

  const std::shared_ptr<LoopServices> loop_;  // first: its io_context must outlive the socket
  Socket socket_;
  State state_ = State::kHead;
  std::atomic<bool> gone_{false};  // state_ is kClosed
  bool waiting_readable_ = false;
  bool waiting_lost_ = false;
  bool taking_ahead_later_ = false;
  bool end_of_input_ = false;
  bool close_after_reply_ = false;
  bool refused_ = false;        // the request was answered before all of it was read
  uint64_t deadline_tick_ = 0;  // 0: none
  uint64_t probe_tick_ = 0;     // 0: none

  std::optional<RequestParser> parser_;
  std::string ahead_;               // input that is not parsed yet
  memory::ReceiveBuffer received_;  // in kBody and kChunkedBody: the body so far
  size_t body_size_ = 0;            // in kBody: all of it
  size_t progress_ = 0;             // of the body: its size when the deadline was last moved
  int taken_ahead_ = 0;             // requests taken from ahead_ since others had their turns

  std::string reply_head_;
  std::vector<tensor::ByteSpan> unwritten_;  // in kWriting and kStreaming: what is left, in order
  size_t first_unwritten_ = 0;

  // What the core sent for the request at hand. Written by the thread that sends, read by the loop
  // after Complete; never both, as a request's responses are sent one at a time, final last.
  bool is_sink_ = false;
  std::unique_ptr<request::InferenceResponse> response_;
  int response_count_ = 0;
  // Loop only.
  std::function<void()> next_;  // what Finish() leads to instead of the answer
  std::shared_ptr<request::Cancellation> cancellation_;
  std::shared_ptr<DeadlineSink> deadline_sink_;  // of the request at hand, if it has a deadline
  std::optional<boost::asio::steady_timer> deadline_timer_;
  std::shared_ptr<ReplyStream> stream_;      // of the request at hand, if its answer is one
  std::vector<ReplyStream::Piece> sending_;  // of stream_: what unwritten_ views
  bool stream_sent_ = false;                 // sending_ is the end
  bool stream_woken_ = false;                // more came while sending_ was being written
  StreamForm stream_form_;
};

}  // namespace nereid::frontend::http
