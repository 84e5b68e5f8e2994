// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/connection_exchange.h"
#include "frontend/http/exchange_owner.h"
#include "frontend/http/loop_services.h"
#include "frontend/http/request_body.h"
#include "frontend/http/request_fields.h"
#include "frontend/http2/stream.h"
#include "frontend/net/out_queue.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

/// One request over HTTP/2 and its reply: the state machine between the session, the exchange and
/// the bytes to send. It does for a stream what Connection does for a connection of HTTP/1.
///
/// A stream belongs to one loop: everything happens on the loop's thread, except for Share() and
/// the destructor.
class Http2Stream final : public http2::Stream,
                          public ExchangeOwner,
                          public std::enable_shared_from_this<Http2Stream> {
 public:
  Http2Stream(std::shared_ptr<LoopServices> loop, const http2::Opening& opening);

  /// Takes a field of the head. Returns the size of the head so far. Beyond the limit the fields
  /// are only counted: HPACK lets a client repeat a large one with one byte.
  size_t AddField(std::string_view name, std::string_view value);

  /// Ends the stream with an error of the server, because something failed for lack of memory.
  void Close();

  // http2::Stream
  void Begin(bool has_body) override;
  void ReceiveData(std::string_view data) override;
  void ReceiveEnd() override;
  size_t missing() const override { return state_ == State::kReceiving ? SIZE_MAX : 0; }
  void SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) override;
  size_t unsent() const override { return unsent_.size(); }
  void MoveUnsent(size_t size, net::OutQueue* queue) override;
  bool is_complete() const override { return state_ == State::kSending || stream_ended_; }
  void EndIfIdle() override;
  void Tick() override;
  void Detach() override;

  // ExchangeOwner
  void OnCompleted(const std::shared_ptr<DeadlineSink>& sink) noexcept override;
  void OnStream(const std::shared_ptr<ReplyStream>& stream) noexcept override;
  void OnDeadline() noexcept override;
  std::shared_ptr<ExchangeOwner> Share() override { return shared_from_this(); }  // any thread

 private:
  /// The legal transitions, besides those to kDetached, which every state has:
  ///
  ///   kReceiving -> kAnswering  the request is complete, or it is refused
  ///   kAnswering -> kSending    the reply is complete
  ///   kAnswering -> kStreaming  the first piece of a streamed reply has come
  enum class State : uint8_t { kReceiving, kAnswering, kSending, kStreaming, kDetached };

  bool TakeBody();
  void Append(std::string_view data);
  void Answer();
  void Refuse(const Refusal& refusal);
  void AnswerEarly();
  void Send();
  void TakePieces();
  void FreeBody();

  const std::shared_ptr<LoopServices> loop_;
  http2::StreamHost* host_;             // null once the stream is detached
  http2::IncompleteBytes& incomplete_;  // valid until then
  ConnectionExchange exchange_;
  RequestFields fields_;
  memory::ReceiveBuffer body_;         // in kReceiving
  std::optional<uint64_t> body_size_;  // Content-Length
  BodyLimit limit_;                    // of the body
  std::string authority_;
  size_t head_size_ = 0;
  size_t counted_ = 0;   // bytes of this stream in incomplete_
  size_t progress_ = 0;  // of the body, when the client last had made progress
  State state_ = State::kReceiving;
  uint8_t silent_ticks_ = 0;
  bool stream_ended_ = false;  // the last piece of a streamed reply is in unsent_
  bool has_more_ = false;      // in kStreaming: more pieces came while others were unsent
  net::OutQueue unsent_;
};

/// Makes the streams of one connection.
class Http2Streams final : public http2::StreamMaker {
 public:
  explicit Http2Streams(std::shared_ptr<LoopServices> loop) : loop_(std::move(loop)) {}

  // http2::StreamMaker
  void BeginHead(const http2::Opening& opening) override {
    next_ = std::make_shared<Http2Stream>(loop_, opening);
  }
  size_t AddField(std::string_view name, std::string_view value) override {
    return next_->AddField(name, value);
  }
  std::shared_ptr<http2::Stream> Make(const http2::Opening&) override { return std::move(next_); }

 private:
  const std::shared_ptr<LoopServices> loop_;
  std::shared_ptr<Http2Stream> next_;  // whose head is arriving
};

/// Serves `client` from now on by HTTP/2, in the place of `connection`. The preface and then
/// `received` have come from it.
void ServeHttp2(const std::shared_ptr<LoopServices>& loop, net::Connection& connection,
                std::unique_ptr<net::ByteStream> client, std::string_view received);

}  // namespace nereid::frontend::http
