// SPDX-License-Identifier: Apache-2.0
// Answers that are there as a whole.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "frontend/http/connection.h"
#include "frontend/http/large_work.h"

namespace nereid::frontend::http {
namespace {

/// How many buffers one system call writes.
constexpr size_t kMaxPieces = 64;
/// What one connection may write before it is the others' turn.
constexpr size_t kWrittenPerTurn = size_t{2} << 20;

void AppendNumber(uint64_t value, std::string* text) {
  char number[24];
  const char* const end = std::to_chars(number, number + sizeof(number), value).ptr;
  text->append(number, static_cast<size_t>(end - number));
}

}  // namespace

std::shared_ptr<request::ResponseSink> Connection::BecomeSink(
    std::shared_ptr<request::Cancellation> cancellation) {
  is_sink_ = true;
  response_count_ = 0;
  cancellation_ = std::move(cancellation);
  if (head.deadline_ns == 0) return shared_from_this();
  WatchDeadline();
  return deadline_sink_;
}

void Connection::ResignSink() {
  is_sink_ = false;
  cancellation_.reset();
  ForgetDeadline();
  ForgetStream();
}

void Connection::WatchDeadline() {
  deadline_sink_ = std::make_shared<DeadlineSink>(shared_from_this());
  StartTimer([self = shared_from_this(), sink = deadline_sink_] { self->OnDeadline(sink); });
}

void Connection::StartTimer(std::function<void()> on_deadline) {
  if (!deadline_timer_) deadline_timer_.emplace(socket_.get_executor());
  deadline_timer_->expires_at(
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(head.deadline_ns)));
  deadline_timer_->async_wait([self = shared_from_this(), on_deadline = std::move(on_deadline)](
                                  const boost::system::error_code& error) {
    if (!error) self->loop_->Protect(*self, on_deadline);
  });
}

void Connection::ForgetDeadline() {
  if (deadline_sink_ == nullptr) return;
  deadline_sink_.reset();
  deadline_timer_->cancel();
}

void Connection::OnDeadline(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != deadline_sink_) return;  // it was done just now
  const LoopServices::DispatchScope scope(*loop_);
  deadline_sink_.reset();
  cancellation_->Cancel();
  ResignSink();
  reply.SetTooLate();
  OnCompleted(nullptr);
}

void Connection::Finish() noexcept { Complete(nullptr); }

void Connection::Complete(std::shared_ptr<DeadlineSink> sink) noexcept {
  loop_->Complete({shared_from_this(), std::move(sink), nullptr});
}

void Connection::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && response_count_++ == 0) response_ = std::move(response);
  if (final) Complete(nullptr);
}

void Connection::OnCompleted(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != deadline_sink_ || state_ != State::kBusy) return Abandon(sink);
  if (sink != nullptr) {
    response_ = sink->TakeResponse();
    response_count_ = sink->response_count();
    ForgetDeadline();
  }
  if (next_ != nullptr) return std::exchange(next_, nullptr)();
  if (is_sink_) {
    is_sink_ = false;
    cancellation_.reset();
    if (!MakeAnswer()) return;
  }
  state_ = State::kWriting;
  DropBody();
  BuildHead();
  StampTrace("HTTP_SEND_START");
  WriteReply();
  WaitReadable();
}

/// False if the answer is being made elsewhere.
bool Connection::MakeAnswer() {
  try {
    return loop_->handler().AnswerInference(*this, std::move(response_), response_count_);
  } catch (const std::exception& failure) {
    loop_->ReportFailure(failure.what());
    reply.SetError(503, "text/plain", "the server could not make the answer: not enough memory");
    return true;
  }
}

void Connection::AppendStatusAndFields() {
  reply_head_.append("HTTP/1.1 ");
  AppendNumber(static_cast<uint64_t>(reply.status), &reply_head_);
  reply_head_.append(" ").append(ReasonPhrase(reply.status)).append("\r\n");
  if (!reply.content_type.empty()) {
    reply_head_.append("Content-Type: ").append(reply.content_type).append("\r\n");
  }
  reply_head_.append(reply.extra_fields);
}

void Connection::BuildHead() {
  size_t length = reply.text.size();
  for (const tensor::ByteSpan& piece : reply.tail) length += piece.size;
  reply_head_.clear();
  AppendStatusAndFields();
  reply_head_.append("Content-Length: ");
  AppendNumber(length, &reply_head_);
  reply_head_.append(close_after_reply_ ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");

  unwritten_.clear();
  first_unwritten_ = 0;
  unwritten_.push_back({reply_head_.data(), reply_head_.size()});
  if (head.method == Method::kHead) return;
  if (reply.text.size() != 0) unwritten_.push_back({reply.text.data(), reply.text.size()});
  unwritten_.insert(unwritten_.end(), reply.tail.begin(), reply.tail.end());
}

void Connection::WriteReply() {
  size_t room = kWrittenPerTurn;
  while (first_unwritten_ < unwritten_.size()) {
    if (room == 0) return WriteLater();
    iovec pieces[kMaxPieces];
    size_t count = 0;
    for (size_t size = 0; count < kMaxPieces && size < room; ++count) {
      if (first_unwritten_ + count == unwritten_.size()) break;
      const tensor::ByteSpan& piece = unwritten_[first_unwritten_ + count];
      pieces[count] = {const_cast<char*>(piece.data), std::min(piece.size, room - size)};
      size += piece.size;
    }
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return WriteLater();
    if (sent < 0) return Close();
    auto left = static_cast<size_t>(sent);
    room -= left;
    while (first_unwritten_ < unwritten_.size() && left >= unwritten_[first_unwritten_].size) {
      left -= unwritten_[first_unwritten_++].size;
    }
    if (left != 0) {
      unwritten_[first_unwritten_].data += left;
      unwritten_[first_unwritten_].size -= left;
    }
  }
  if (state_ == State::kStreaming) return OnReadyWritten();
  OnWritten();
}

void Connection::WriteLater() {
  SetDeadline(loop_->timeouts().stall);
  WaitWritable();
}

void Connection::OnWritable() {
  const LoopServices::DispatchScope scope(*loop_);
  if (state_ != State::kWriting && state_ != State::kStreaming) return;
  WriteReply();
  WaitReadable();
}

void Connection::StampTrace(std::string_view name) {
  if (trace != nullptr) trace->Stamp(name, base::SteadyClock().NowNs());
}

void Connection::OnWritten() {
  StampTrace("HTTP_SEND_END");
  trace.reset();
  probe_tick_ = 0;
  DropReply();
  if (refused_) return Linger();
  if (close_after_reply_) return Close();
  state_ = State::kHead;
  SetDeadline(loop_->timeouts().idle);
  TakeAhead();
}

void Connection::DropReply() {
  size_t size = 0;
  for (const tensor::ByteSpan& piece : reply.tail) size += piece.size;
  if (size > kMostFreedOnLoop && reply.owner != nullptr) {
    loop_->handler().FreeElsewhere(std::move(reply.owner));
  }
  reply.Clear();
}

// Closing with unread input (the rest of a refused request) would make the kernel reset the
// connection, and the client could lose the answer.
void Connection::Linger() {
  if (end_of_input_) return Close();
  state_ = State::kLingering;
  ahead_ = {};
  SetDeadline(loop_->timeouts().linger);
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

}  // namespace nereid::frontend::http
