// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "codec/json/request_options.h"
#include "frontend/http/access_entry.h"
#include "frontend/http/reply.h"
#include "frontend/http/request_head.h"
#include "frontend/net/peer.h"
#include "frontend/net/socket.h"
#include "memory/host_buffer.h"
#include "request/cancellation.h"
#include "request/response_sink.h"
#include "tracing/request_trace.h"

namespace nereid::frontend::http {

class ReplyStream;
class ServerTiming;

/// The body of a request: bytes [offset, offset + size) of `buffer`. The first byte behind the JSON
/// part is aligned to 64 bytes. If the binary tensors are in borrowed memory, the JSON part is
/// apart from them in `json`: another process could change it otherwise while it is decoded.
struct Body {
  memory::HostBuffer buffer;
  size_t offset = 0;
  size_t size = 0;
  std::string json = {};

  /// The bytes in `buffer`: the whole body, or the part behind `json`.
  std::string_view view() const { return {buffer.data() + offset, size}; }
  size_t total_size() const { return json.size() + size; }
};

/// One request as it was received.
struct ReceivedRequest {
  RequestHead head;
  Body body;
  /// When the first and the last byte came, monotonic; 0 if the handler does not want times.
  uint64_t receive_start_ns = 0;
  uint64_t receive_end_ns = 0;
  /// The client; nothing unless the server's options ask for it. The same for all requests of a
  /// connection.
  std::optional<net::Peer> peer;
  /// What the client has sent with the bytes of the request; usually closed.
  net::Socket descriptor;
};

/// How a handler turns the response of the core into a reply.
enum class ReplyForm { kInference, kGenerate };

/// One request and its reply, as a handler sees them, whichever version of HTTP carries them. A
/// connection of HTTP/1 has one request at a time, and one exchange that it uses for all of them;
/// in HTTP/2 each stream has its own.
///
/// A handler ends the exchange in one of these ways:
/// - it fills reply() and calls Finish(), perhaps later and on another thread;
/// - it submits a request to the core whose sink is BecomeSink(): the final response ends the
///   exchange, and HttpHandler::MakeInferenceReply makes the reply of it;
/// - it writes to the stream that BeginStream() returns: the end of the stream ends the exchange.
///
/// Everything belongs to the loop's thread, with these exceptions: Finish() and IsGone(), which any
/// thread may call; and while another thread works towards Finish(), that thread may use the
/// request and the reply, and the loop does not.
class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const RequestHead& head() const { return request_.head; }
  const Body& body() const { return request_.body; }
  /// Returns the client, as the system and TLS know it; null if the server does not ask for it.
  const net::Peer* peer() const { return request_.peer ? &*request_.peer : nullptr; }
  /// Takes a path that the request names beside its own, and returns it decoded; it is empty if
  /// `path` is malformed. Valid until the request ends.
  PathView Redirect(std::string_view path) {
    (void)request_.head.redirect.Assign(path);
    return request_.head.redirect.view();
  }
  /// Replaces the body, by the inflated one for example.
  void ReplaceBody(Body body) { request_.body = std::move(body); }
  /// Moves the memory of the body out: a request of the core keeps it alive. The views of body()
  /// stay valid as long as the memory.
  memory::HostBuffer TakeBodyMemory() { return std::move(request_.body.buffer); }

  /// Returns the descriptor that the client has sent with the request over a Unix socket (see
  /// HttpServerOptions); a closed one if there is none.
  net::Socket TakeDescriptor() { return std::move(request_.descriptor); }

  /// Which outputs the client wants, and how; of the inference request at hand.
  codec::json::OutputOptions& output_options() { return output_options_; }
  const codec::json::OutputOptions& output_options() const { return output_options_; }

  Reply& reply() { return reply_; }
  /// The form of the reply, as BecomeSink was told.
  ReplyForm reply_form() const { return reply_form_; }

  /// Keeps the trace of the request until the reply is sent, and records when the request was
  /// received. Null: the request is not traced.
  void SetTrace(std::shared_ptr<tracing::RequestTrace> trace);

  /// Returns a reference to what becomes the field Server-Timing of the reply. Null: nobody asks.
  /// A part of the reply: it is kept as long as another thread may make the reply.
  std::shared_ptr<const ServerTiming>& timing() { return timing_; }

  AccessEntry& access_entry() { return access_entry_; }

  /// Ends the exchange: reply() is complete. Once per request, on any thread.
  virtual void Finish() noexcept = 0;

  /// Returns the sink for the request that the handler submits. Cancels `cancellation` when the
  /// client goes away or its deadline passes; after the deadline the client gets its reply (504) at
  /// once, whatever the core does.
  virtual std::shared_ptr<request::ResponseSink> BecomeSink(
      std::shared_ptr<request::Cancellation> cancellation, ReplyForm form) = 0;

  /// Returns the stream whose pieces become the body of the reply as they come. Cancels
  /// `cancellation` as BecomeSink does.
  virtual std::shared_ptr<ReplyStream> BeginStream(
      std::shared_ptr<request::Cancellation> cancellation, const StreamForm& form) = 0;

  /// Undoes BecomeSink or BeginStream after a submission that failed.
  virtual void ResignSink() = 0;

  /// Makes the next Finish() call `next` on the loop's thread instead of ending the exchange. A
  /// handler calls this before it gives a part of its work to another thread. `next` is dropped
  /// without a call if the client has gone by then.
  virtual void ContinueWith(std::function<void()> next) = 0;

  /// Returns whether the client has gone, so that nobody waits for the reply. Any thread.
  virtual bool IsGone() const noexcept = 0;

  /// Returns a reference that keeps the exchange alive until another thread has called Finish.
  virtual std::shared_ptr<Exchange> Share() = 0;

 protected:
  Exchange() = default;
  ~Exchange() = default;

  ReceivedRequest& request() { return request_; }
  void set_reply_form(ReplyForm form) { reply_form_ = form; }
  /// Records an activity of the front end in the trace, if there is one.
  void Stamp(std::string_view activity) const {
    if (trace_ != nullptr) trace_->Stamp(activity, base::SteadyClock().NowNs());
  }
  /// Passes the trace on as complete.
  void EndTrace() { trace_.reset(); }

 private:
  ReceivedRequest request_;
  Reply reply_;
  codec::json::OutputOptions output_options_;
  ReplyForm reply_form_ = ReplyForm::kInference;
  std::shared_ptr<tracing::RequestTrace> trace_;
  std::shared_ptr<const ServerTiming> timing_;  // null: not asked for
  AccessEntry access_entry_;
};

}  // namespace nereid::frontend::http
