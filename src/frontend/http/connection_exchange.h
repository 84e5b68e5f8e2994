// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include "frontend/http/deadline_sink.h"
#include "frontend/http/exchange.h"
#include "frontend/http/exchange_owner.h"
#include "frontend/http/loop_services.h"
#include "frontend/http/reply_stream.h"

namespace nereid::frontend::http {

/// The exchange of a connection of HTTP/1 or of a stream of HTTP/2, its owner: what the owner waits
/// for between a complete request and its reply. That is Finish(), or responses that this object or
/// its DeadlineSink receives, or the pieces of a ReplyStream; and, beside each of these, the
/// request's deadline.
///
/// A member of its owner; all pointers to it share the owner's reference count, so a request costs
/// no allocation here, unless it has a deadline or a streamed reply. On the loop's thread, except
/// for the functions marked "any thread".
class ConnectionExchange final : public Exchange, public request::ResponseSink {
 public:
  /// `owner` has this exchange, on `loop`.
  ConnectionExchange(ExchangeOwner& owner, LoopServices& loop) : owner_(owner), loop_(loop) {}

  // Exchange
  void Finish() noexcept override { loop_.Complete(completion_, owner_.Share()); }  // any thread
  std::shared_ptr<request::ResponseSink> BecomeSink(
      std::shared_ptr<request::Cancellation> cancellation, ReplyForm form) override;
  std::shared_ptr<ReplyStream> BeginStream(std::shared_ptr<request::Cancellation> cancellation,
                                           const StreamForm& form) override;
  void ResignSink() override;
  void ContinueWith(std::function<void()> next) override { next_ = std::move(next); }
  bool IsGone() const noexcept override { return gone_.load(std::memory_order_relaxed); }
  std::shared_ptr<Exchange> Share() override { return {owner_.Share(), this}; }

  // ResponseSink
  void Send(std::unique_ptr<request::InferenceResponse> response,
            bool final) noexcept override;  // any thread
  base::Status LendOutput(request::Output* output,
                          request::LentBytes bytes) noexcept override;  // any thread

  // ---- For the owner. ----

  using Exchange::EndTrace;
  using Exchange::request;
  using Exchange::Stamp;

  /// Returns whether the request at hand waits for this sink (null: for the exchange itself), and
  /// not an earlier request whose deadline has passed.
  bool IsAwaiting(const std::shared_ptr<DeadlineSink>& sink) const {
    return sink == deadline_sink_;
  }
  /// Takes the next step after OnCompleted(sink). Returns whether the reply is complete.
  bool Advance(const std::shared_ptr<DeadlineSink>& sink);
  /// Cancels the request because its deadline has passed. Returns whether the reply is complete by
  /// that; `begun`: the client has got a part of it.
  bool Expire(bool begun);

  /// The stream of the request at hand; null if its reply is not streamed.
  const std::shared_ptr<ReplyStream>& stream() const { return stream_; }
  /// Sends the client a piece that it ignores.
  void ProbeStream();
  /// Forgets the stream, all of which the client has got.
  void EndStream();

  /// Frees the body, if no request has taken it, and closes a descriptor that nobody has taken.
  void FreeBody();
  void FreeReply();
  /// Frees memory, elsewhere if there is much of it. Does not fail.
  void Free(memory::HostBuffer memory) noexcept;

  /// Drops a reply that nobody will write, after OnCompleted(sink).
  void Abandon(const std::shared_ptr<DeadlineSink>& sink);
  /// Cancels the request, whose client has gone. `in_use`: other threads may still use the request
  /// and the reply; Abandon(nullptr) follows when they are done.
  void Disconnect(bool in_use);

 private:
  void OnFinished() { owner_.OnCompleted(nullptr); }
  void Drop() { Abandon(nullptr); }
  void ForgetDeadlineSink();
  void ForgetStream();
  bool MakeReply();

  ExchangeOwner& owner_;
  LoopServices& loop_;
  std::atomic<bool> gone_{false};

  // What the core has sent for the request at hand. Written by the thread that sends, read by the
  // loop after that; never both at once, because the responses of a request are sent one at a
  // time, the final one last.
  bool is_sink_ = false;
  std::unique_ptr<request::InferenceResponse> response_;
  int response_count_ = 0;

  // The loop's thread only.
  std::function<void()> next_;  // the next step, instead of the end of the exchange
  std::shared_ptr<request::Cancellation> cancellation_;
  std::shared_ptr<DeadlineSink> deadline_sink_;  // null: the request has no deadline, or no sink
  std::shared_ptr<ReplyStream> stream_;
  StreamForm stream_form_;
  // Set only while there is a sink or a stream that the request waits for.
  net::MemberTimer<ExchangeOwner, &ExchangeOwner::OnDeadline> deadline_{owner_};

  // Any thread. One is enough, because an exchange has one request at a time.
  net::MemberTask<ConnectionExchange, &ConnectionExchange::OnFinished, &ConnectionExchange::Drop>
      completion_{*this};
};

}  // namespace nereid::frontend::http
