// SPDX-License-Identifier: Apache-2.0
// Answers whose bodies are sent in pieces: chunked, or until the connection's end for HTTP/1.0.
#include <charconv>
#include <utility>

#include "frontend/http/connection.h"

namespace nereid::frontend::http {

std::shared_ptr<ReplyStream> Connection::BeginStream(
    std::shared_ptr<request::Cancellation> cancellation, const StreamForm& form) {
  cancellation_ = std::move(cancellation);
  reply.content_type = form.content_type;
  stream_form_ = form;
  stream_woken_ = false;
  stream_sent_ = false;
  stream_ = std::make_shared<ReplyStream>(
      loop_->options().max_waiting_bytes, loop_->options().slow_reader_patience,
      [self = shared_from_this()](std::shared_ptr<ReplyStream> stream) {
        self->loop_->Complete({self, nullptr, std::move(stream)});
      });
  if (head.deadline_ns != 0) {
    StartTimer([self = shared_from_this(), stream = stream_] { self->OnStreamDeadline(stream); });
  }
  return stream_;
}

void Connection::OnStreamDeadline(const std::shared_ptr<ReplyStream>& stream) {
  if (stream != stream_) return;
  const LoopServices::DispatchScope scope(*loop_);
  cancellation_->Cancel();
  if (state_ == State::kStreaming)
    return stream->EndWith(200, std::string(stream_form_.late_piece));
  ResignSink();
  reply.SetTooLate();
  OnCompleted(nullptr);
}

void Connection::ForgetStream() {
  if (stream_ == nullptr) return;
  stream_->Close();
  stream_.reset();
  sending_.clear();
  if (deadline_timer_) deadline_timer_->cancel();
}

void Connection::OnStream(const std::shared_ptr<ReplyStream>& stream) {
  if (stream != stream_ || (state_ != State::kBusy && state_ != State::kStreaming)) return;
  if (first_unwritten_ == unwritten_.size()) {
    SendReady();
  } else {
    stream_woken_ = true;
  }
}

/// Sends what there is; what comes meanwhile is sent when this is written.
void Connection::SendReady() {
  ReplyStream::Ready ready = stream_->Take();
  if (ready.pieces.empty() && !ready.ended) return;
  unwritten_.clear();
  first_unwritten_ = 0;
  reply_head_.clear();
  if (state_ == State::kBusy) BeginStreamedReply(ready.status);
  sending_ = std::move(ready.pieces);
  stream_sent_ = ready.ended;

  size_t size = 0;
  for (const ReplyStream::Piece& piece : sending_) size += piece.text.size();
  const bool chunked = !head.is_http_1_0;
  if (chunked && size != 0) {
    char hex[20];
    const char* const end = std::to_chars(hex, hex + sizeof(hex), size, 16).ptr;
    reply_head_.append(hex, static_cast<size_t>(end - hex)).append("\r\n");
  }
  if (!reply_head_.empty()) unwritten_.push_back({reply_head_.data(), reply_head_.size()});
  for (const ReplyStream::Piece& piece : sending_) {
    unwritten_.push_back({piece.text.data(), piece.text.size()});
  }
  constexpr std::string_view kEndOfChunkAndBody = "\r\n0\r\n\r\n";
  if (chunked) {
    const size_t from = size == 0 ? 2 : 0;
    const size_t to = ready.ended ? kEndOfChunkAndBody.size() : 2;
    if (to > from) unwritten_.push_back({kEndOfChunkAndBody.data() + from, to - from});
  }
  WriteReply();
  WaitReadable();
}

void Connection::BeginStreamedReply(int status) {
  state_ = State::kStreaming;
  StampTrace("HTTP_SEND_START");
  DropBody();
  if (head.is_http_1_0) close_after_reply_ = true;
  reply.status = status;
  AppendStatusAndFields();
  if (!head.is_http_1_0) reply_head_.append("Transfer-Encoding: chunked\r\n");
  reply_head_.append(close_after_reply_ ? "Connection: close\r\n\r\n" : "\r\n");
}

void Connection::OnReadyWritten() {
  SetDeadline(0);
  sending_.clear();
  if (!stream_sent_) {
    // Only after the socket was full: what comes now wakes the connection in a later turn of the
    // loop, so that a fast writer has one turn for each of the other clients'.
    if (std::exchange(stream_woken_, false)) SendReady();
    return;
  }
  cancellation_.reset();
  ForgetStream();
  OnWritten();
}

}  // namespace nereid::frontend::http
