// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "api/access_record.h"
#include "base/byte_budget.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/inbound_messages.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/response_framing.h"
#include "frontend/grpc/response_metadata.h"
#include "frontend/grpc/server_context.h"
#include "frontend/http2/stream.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/out_queue.h"
#include "frontend/net/peer.h"

namespace nereid::frontend::grpc {

/// The parts from which a call is made.
struct CallOrigin {
  ServerContext& context;
  net::EventLoop& loop;
  const http2::Opening& opening;  // of the call's HTTP/2 stream
  const RequestHead& head;
  const net::Peer* peer;  // the client; null if the server does not ask for it
};

/// The life of a call. The legal transitions:
///
///   kRunning -> kFinished   the outcome is known; unsent bytes and the status still go out
///   kRunning -> kDetached   the stream was closed before: by a reset, or with its connection
///   kFinished -> kDetached  the stream was closed
///
/// OnCancelled() is called at most once, and only in kRunning.
enum class CallState : uint8_t { kRunning, kFinished, kDetached };

/// One RPC as its HTTP/2 stream shows it: inbound messages, unsent bytes, a deadline and an
/// outcome. Lives on its session's event loop; only state() may be called by other threads.
class CallStream : public http2::Stream, protected InboundMessages::Receiver, private net::Timer {
 public:
  CallStream(const CallOrigin& origin, ResponseFraming framing);

  // ---- http2::Stream, for the session. ----

  /// Starts the timer of the deadline.
  void Begin(bool has_body) override;
  void ReceiveData(std::string_view data) override;
  void ReceiveEnd() override { inbound_.ReceiveEnd(); }
  /// Returns how many bytes the message that is arriving lacks; 0 between messages.
  size_t missing() const override { return inbound_.missing(); }
  bool WantsLess() const override { return inbound_.paused() || inbound_.HasBacklog(); }
  void SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) override;
  size_t unsent() const override { return unsent_.size(); }
  void MoveUnsent(size_t size, net::OutQueue* queue) override;
  /// Returns whether the outcome is known, which is sent behind all unsent bytes.
  bool is_complete() const override { return outcome_.has_value(); }
  bool SubmitTrailers(nghttp2_session* session) override;
  void EndIfIdle() override;
  void Tick() override;
  void Detach() override;

  /// What the call adds to the headers and trailers of its response; null for most. Set before the
  /// first message or the outcome.
  std::unique_ptr<const ResponseMetadata> response_metadata;

 protected:
  // ---- Each kind of call implements these, and OnMessage() and OnHalfClose(). ----

  /// Returns whether the call can only continue if the client sends something.
  virtual bool IsIdle() const = 0;
  /// Cancels what is done for the call. The client does not wait for a response: it has reset the
  /// stream or disconnected, or the deadline has passed.
  virtual void OnCancelled() = 0;
  /// Returns whether the client owes bytes.
  virtual bool AwaitsBytes() const { return inbound_.InMessage(); }

  // ---- Used by each kind of call. ----

  /// Sends a message. `share` is given back when all of it was written or copied for the
  /// connection. Does nothing unless the call runs.
  void SendMessage(codec::proto::EncodedMessage message, base::ByteShare share = {});
  /// Finishes the call without cancelling what is done for it. Does nothing unless the call runs.
  void Finish(CallStatus status);
  /// Cancels what is done for the call and finishes it.
  void End(CallStatus status) override;

  /// Ends the call if its deadline has passed but the event loop's timer has not fired yet. Returns
  /// whether it has. Must be called before a result is taken: the core refuses a request whose
  /// deadline passes in the queue, and the client must get DEADLINE_EXCEEDED, not that refusal.
  bool EndIfTooLate();

  CallState state() const { return state_.load(std::memory_order_relaxed); }
  bool finished() const { return state() != CallState::kRunning; }
  /// Returns the deadline in monotonic nanoseconds; 0 for none.
  uint64_t deadline_ns() const { return deadline_ns_; }

  ServerContext& context_;
  net::EventLoop& loop_;     // valid until the call is detached
  http2::StreamHost& host_;  // likewise
  InboundMessages inbound_;
  const ResponseFraming framing_;
  /// The call's line for the access log; null if that is off.
  const std::unique_ptr<api::AccessRecord> access_record_;

 private:
  void OnDeadline() override;
  void SetOutcome(CallStatus status);

  net::OutQueue unsent_;  // what HTTP/2's flow control has not let out yet
  std::optional<CallStatus> outcome_;
  uint64_t deadline_ns_ = 0;
  // Only the event loop's thread writes it. Other threads read it to skip work that is not wanted.
  std::atomic<CallState> state_{CallState::kRunning};
  uint8_t silent_ticks_ = 0;
};

}  // namespace nereid::frontend::grpc
