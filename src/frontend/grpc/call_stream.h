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
#include "frontend/grpc/call_host.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/inbound_messages.h"
#include "frontend/grpc/incomplete_bytes.h"
#include "frontend/grpc/outbox.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/response_framing.h"
#include "frontend/grpc/response_metadata.h"
#include "frontend/grpc/server_context.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/peer.h"

namespace nereid::frontend::grpc {

/// The parts from which a call is made.
struct CallOrigin {
  ServerContext& context;
  net::EventLoop& loop;
  CallHost& host;
  IncompleteBytes& incomplete;  // of the connection
  int32_t stream;
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

/// One RPC as its HTTP/2 stream shows it: inbound messages, an outbox, a deadline and an outcome.
/// Lives on its session's event loop; only state() may be called by other threads.
class CallStream : protected InboundMessages::Receiver, private net::Timer {
 public:
  CallStream(const CallOrigin& origin, ResponseFraming framing);
  virtual ~CallStream() = default;
  CallStream(const CallStream&) = delete;
  CallStream& operator=(const CallStream&) = delete;

  // ---- For the session. ----

  /// Starts the timer of the deadline. Must be called once, when the session owns the call.
  void Begin();
  void ReceiveData(std::string_view data);
  void ReceiveEnd() { inbound_.ReceiveEnd(); }
  /// Ends the call if nothing is being done for it. Is called when the server stops.
  virtual void EndIfIdle();
  /// Must be called kTicksOfStall times in a stall timeout. Ends the call when its client has let
  /// the whole timeout pass without a byte that it owes, or without reading anything of a complete
  /// response.
  void Tick();
  /// Cancels the call if it runs, because its stream is closed. The session then drops the call.
  void Detach();

  /// Returns how many bytes the message that is arriving lacks; 0 between messages.
  size_t missing() const { return inbound_.missing(); }
  /// Returns whether the client should wait before it sends more: the window of the stream is not
  /// enlarged until then.
  bool WantsLess() const { return inbound_.paused() || inbound_.HasBacklog() || IsFull(); }
  const ResponseFraming& framing() const { return framing_; }
  size_t unsent() const { return outbox_.unsent(); }
  /// Moves the next `size` bytes (at most unsent()) to `queue`.
  void MoveUnsent(size_t size, WriteQueue* queue);
  /// Returns the outcome, which is sent behind all unsent bytes; nothing while the call runs.
  const std::optional<CallStatus>& outcome() const { return outcome_; }

  /// The session's notes about the stream.
  struct Http2Stream {
    const int32_t id;
    size_t place = 0;               // in the session's list
    size_t withheld = 0;            // received bytes that were not given back to the window
    bool headers_sent = false;      // the response headers were submitted
    bool waiting_for_data = false;  // nghttp2 asked for bytes when there were none
  };
  Http2Stream http2;

  /// What the call adds to the headers and trailers of its response; null for most. Set before the
  /// first message or the outcome.
  std::unique_ptr<const ResponseMetadata> response_metadata;

  /// Ticks in a stall timeout.
  static constexpr int kTicksOfStall = 4;

 protected:
  // ---- Each kind of call implements these, and OnMessage() and OnHalfClose(). ----

  /// Returns whether the call can only continue if the client sends something.
  virtual bool IsIdle() const = 0;
  /// Cancels what is done for the call. The client does not wait for a response: it has reset the
  /// stream or disconnected, or the deadline has passed.
  virtual void OnCancelled() = 0;
  /// Returns whether the client should read waiting responses before it sends more.
  virtual bool IsFull() const { return false; }
  /// Returns whether the client owes bytes.
  virtual bool AwaitsBytes() const { return inbound_.InMessage(); }

  // ---- Used by each kind of call. ----

  /// Sends a message. `share` is given back when all of it was handed to the connection. Does
  /// nothing unless the call runs.
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
  net::EventLoop& loop_;  // valid until the call is detached
  CallHost& host_;        // likewise
  InboundMessages inbound_;
  /// The call's line for the access log; null if that is off.
  const std::unique_ptr<api::AccessRecord> access_record_;

 private:
  void OnDeadline() override;
  void SetOutcome(CallStatus status);

  const ResponseFraming framing_;
  Outbox outbox_;
  std::optional<CallStatus> outcome_;
  uint64_t deadline_ns_ = 0;
  // Only the event loop's thread writes it. Other threads read it to skip work that is not wanted.
  std::atomic<CallState> state_{CallState::kRunning};
  uint8_t silent_ticks_ = 0;
};

}  // namespace nereid::frontend::grpc
