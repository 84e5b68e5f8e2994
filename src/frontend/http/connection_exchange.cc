// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/connection_exchange.h"

#include <exception>
#include <string>
#include <utility>

#include "frontend/http/content_encoding.h"
#include "frontend/http/large_work.h"

namespace nereid::frontend::http {
namespace {

/// Brings the news of a stream's pieces to the exchange's owner. Kept by the stream, which it
/// refers to weakly therefore.
class StreamTask final : public net::Task {
 public:
  explicit StreamTask(std::shared_ptr<ExchangeOwner> owner) : owner_(std::move(owner)) {}

  std::weak_ptr<ReplyStream> stream;  // set before the stream is given to a writer

 private:
  void Run() noexcept override {
    if (const auto has_pieces = stream.lock()) owner_->OnStream(has_pieces);
  }
  /// The loop has ended: nobody will read the pieces.
  void Drop() noexcept override {
    if (const auto unread = stream.lock()) unread->Close();
  }

  const std::shared_ptr<ExchangeOwner> owner_;
};

}  // namespace

std::shared_ptr<request::ResponseSink> ConnectionExchange::BecomeSink(
    std::shared_ptr<request::Cancellation> cancellation, ReplyForm form) {
  set_reply_form(form);
  is_sink_ = true;
  response_count_ = 0;
  cancellation_ = std::move(cancellation);
  if (head().deadline_ns == 0) return {owner_.Share(), this};
  deadline_sink_ = std::make_shared<DeadlineSink>(owner_.Share(), loop_);
  loop_.event_loop().SetTimer(deadline_, head().deadline_ns);
  return deadline_sink_;
}

std::shared_ptr<ReplyStream> ConnectionExchange::BeginStream(
    std::shared_ptr<request::Cancellation> cancellation, const StreamForm& form) {
  cancellation_ = std::move(cancellation);
  reply().content_type = form.content_type;
  stream_form_ = form;
  // The stream may outlive the owner's interest in it, but not the owner and its loop.
  const auto task = std::make_shared<StreamTask>(owner_.Share());
  stream_ = std::make_shared<ReplyStream>(
      loop_.options().max_waiting_bytes, loop_.options().slow_reader_patience,
      [task, &loop = loop_](const std::shared_ptr<ReplyStream>&) { loop.Complete(*task, task); });
  task->stream = stream_;
  if (head().deadline_ns != 0) loop_.event_loop().SetTimer(deadline_, head().deadline_ns);
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
  if (final) Finish();
}

// The client gets the bytes as they are, whatever another process does with them, if they go into
// the binary part of a reply that is not compressed.
base::Status ConnectionExchange::LendOutput(request::Output* output,
                                            request::LentBytes bytes) noexcept {
  const bool as_they_are =
      bytes.memory_type != memory::MemoryType::kGpu && reply_form() == ReplyForm::kInference &&
      output_options().IsBinary(output->name) && output_options().classifications().empty() &&
      BestEncoding(head().accept_encoding) == Encoding::kIdentity;
  if (as_they_are) return Refer(output, std::move(bytes));
  return ResponseSink::LendOutput(output, std::move(bytes));
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

bool ConnectionExchange::Expire(bool begun) {
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
  loop_.event_loop().CancelTimer(deadline_);
}

void ConnectionExchange::ForgetStream() {
  if (stream_ == nullptr) return;
  stream_->Close();
  stream_.reset();
  loop_.event_loop().CancelTimer(deadline_);
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
  request().descriptor.Close();
}

void ConnectionExchange::FreeReply() {
  size_t size = 0;
  for (const tensor::ByteSpan& piece : reply().tail) size += piece.size;
  if (size > kMaxFreedOnLoop && reply().owner != nullptr) {
    loop_.handler().FreeElsewhere(std::move(reply().owner));
  }
  timing().reset();
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
  timing().reset();
  reply().Clear();
}

void ConnectionExchange::Disconnect(bool in_use) {
  if (!in_use) Abandon(nullptr);
  ForgetDeadlineSink();
  ForgetStream();
  gone_.store(true, std::memory_order_relaxed);
  access_entry().End(api::kClientClosedRequest);
  EndTrace();
  if (cancellation_ != nullptr) cancellation_->Cancel();
  cancellation_.reset();
}

}  // namespace nereid::frontend::http
