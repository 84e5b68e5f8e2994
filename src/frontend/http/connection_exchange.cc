// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/connection_exchange.h"

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "frontend/http/large_work.h"

namespace nereid::frontend::http {

std::shared_ptr<request::ResponseSink> ConnectionExchange::BecomeSink(
    std::shared_ptr<request::Cancellation> cancellation, ReplyForm form) {
  set_reply_form(form);
  is_sink_ = true;
  response_count_ = 0;
  cancellation_ = std::move(cancellation);
  if (head().deadline_ns == 0) return {owner_.Share(), this};
  deadline_sink_ = std::make_shared<DeadlineSink>(owner_.Share(), owner_);
  StartDeadline(deadline_sink_);
  return deadline_sink_;
}

std::shared_ptr<ReplyStream> ConnectionExchange::BeginStream(
    std::shared_ptr<request::Cancellation> cancellation, const StreamForm& form) {
  cancellation_ = std::move(cancellation);
  reply().content_type = form.content_type;
  stream_form_ = form;
  // The stream may outlive the connection's interest in it, but not the connection and its loop.
  stream_ = std::make_shared<ReplyStream>(
      loop_.options().max_waiting_bytes, loop_.options().slow_reader_patience,
      [connection = owner_.Share(), &loop = loop_](std::shared_ptr<ReplyStream> stream) {
        loop.Complete({connection, nullptr, std::move(stream)});
      });
  if (head().deadline_ns != 0) StartDeadline(stream_);
  return stream_;
}

void ConnectionExchange::ResignSink() {
  is_sink_ = false;
  cancellation_.reset();
  ForgetDeadlineSink();
  ForgetStream();
}

void ConnectionExchange::Send(std::unique_ptr<request::InferenceResponse> response,
                              bool final) noexcept {
  if (response != nullptr && response_count_++ == 0) response_ = std::move(response);
  if (final) owner_.Complete(nullptr);
}

bool ConnectionExchange::Advance(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != nullptr) {
    response_ = sink->TakeResponse();
    response_count_ = sink->response_count();
    ForgetDeadlineSink();
  }
  if (next_ != nullptr) {
    std::exchange(next_, nullptr)();
    return false;
  }
  if (!is_sink_) return true;
  is_sink_ = false;
  cancellation_.reset();
  return MakeReply();
}

/// Returns false if another thread makes the reply.
bool ConnectionExchange::MakeReply() {
  try {
    return loop_.handler().MakeInferenceReply(*this, std::move(response_), response_count_);
  } catch (const std::exception& failure) {
    loop_.ReportFailure(failure.what());
    reply().SetError(503, "text/plain",
                     "the server could not make the response: not enough memory");
    return true;
  }
}

// Cancelling the timer does not take back an expiry that the event loop has already queued, and by
// then the connection may serve its next request, with a deadline of its own. `awaited` tells the
// requests apart: it is kept alive, so no other object can have its address.
void ConnectionExchange::StartDeadline(std::shared_ptr<const void> awaited) {
  if (!deadline_timer_) deadline_timer_.emplace(executor_);
  deadline_timer_->expires_at(
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(head().deadline_ns)));
  deadline_timer_->async_wait(
      [connection = owner_.Share(), &owner = owner_,
       awaited = std::move(awaited)](const boost::system::error_code& error) {
        if (!error) owner.OnDeadline(awaited);
      });
}

bool ConnectionExchange::Expire(const std::shared_ptr<const void>& awaited, bool begun) {
  if (awaited != deadline_sink_ && awaited != stream_) return false;
  cancellation_->Cancel();
  if (begun) {
    // The status has been sent: an error can only be a last piece.
    stream_->EndWith(200, std::string(stream_form_.late_piece));
    return false;
  }
  ResignSink();
  reply().SetTooLate();
  return true;
}

void ConnectionExchange::ForgetDeadlineSink() {
  if (deadline_sink_ == nullptr) return;
  deadline_sink_.reset();
  deadline_timer_->cancel();
}

void ConnectionExchange::ForgetStream() {
  if (stream_ == nullptr) return;
  stream_->Close();
  stream_.reset();
  if (deadline_timer_) deadline_timer_->cancel();
}

void ConnectionExchange::ProbeStream() {
  (void)stream_->Write(200, std::string(stream_form_.probe), /*may_wait=*/false);
}

void ConnectionExchange::EndStream() {
  cancellation_.reset();
  ForgetStream();
}

void ConnectionExchange::FreeBody() {
  if (body().buffer.size() > kMaxFreedOnLoop) Free(TakeBodyMemory());
  ReplaceBody({});
}

void ConnectionExchange::FreeReply() {
  size_t size = 0;
  for (const tensor::ByteSpan& piece : reply().tail) size += piece.size;
  if (size > kMaxFreedOnLoop && reply().owner != nullptr) {
    loop_.handler().FreeElsewhere(std::move(reply().owner));
  }
  reply().Clear();
}

void ConnectionExchange::Free(memory::HostBuffer memory) noexcept {
  if (memory.size() <= kMaxFreedOnLoop) return;
  try {
    loop_.handler().FreeElsewhere(std::make_shared<memory::HostBuffer>(std::move(memory)));
  } catch (const std::exception&) {
    // There is no memory for handing it over: it has been freed here.
  }
}

// A response refers to its sink, which is this object, which keeps the response: without this, both
// would live for ever.
void ConnectionExchange::Abandon(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != nullptr) {
    sink->TakeResponse();
    return;
  }
  next_ = nullptr;
  response_.reset();
  reply().Clear();
}

void ConnectionExchange::Disconnect(bool in_use) {
  if (!in_use) Abandon(nullptr);
  ForgetDeadlineSink();
  ForgetStream();
  gone_.store(true, std::memory_order_relaxed);
  EndTrace();
  if (cancellation_ != nullptr) cancellation_->Cancel();
  cancellation_.reset();
}

}  // namespace nereid::frontend::http
