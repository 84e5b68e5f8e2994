// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/blocking_workers.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/loop_services.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/grpc/request_head.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::grpc {

class Call;
class WriteQueue;
struct ServerContext;

/// What a call needs of the connection that carries it: implemented by Session. Loop thread only.
class CallHost {
 public:
  /// `call` has bytes to send, or has ended.
  virtual void CallChanged(Call& call) = 0;
  /// A call that held `before` bytes of incomplete messages holds `now`. False when that is more
  /// than one connection may with several messages: half of what the server may.
  virtual bool CountIncomplete(size_t before, size_t now) = 0;
  /// `call` takes bytes again.
  virtual void WantsMore(Call& call) = 0;
  /// Ends the stream at once.
  virtual void ResetStream(Call& call, uint32_t error_code) = 0;

 protected:
  ~CallHost() = default;
};

/// What a call is made from.
struct CallOrigin {
  ServerContext& context;
  LoopServices& loop;
  CallHost& host;
  int32_t stream;
  const RequestHead& head;
};

/// `body` as a message to send.
codec::proto::EncodedMessage FrameMessage(std::string_view body);

/// One RPC: cuts what the client sends into messages, and keeps what is to be sent. Lives on its
/// session's loop; only Deliver() may be called elsewhere. The session owns it until the stream is
/// closed; whoever works for it may own it longer, and then finds that nobody listens.
class Call : public std::enable_shared_from_this<Call>, private Timed {
 public:
  explicit Call(const CallOrigin& origin);
  virtual ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // ---- From the session. ----

  /// Starts the deadline's watch. Once, when the session owns the call.
  void Begin();
  void ReceiveData(std::string_view data);
  void ReceiveEnd();
  /// The server stops: a call that nothing is being done for ends now.
  virtual void EndIfIdle();
  /// Bytes that the message whose bytes come lacks; 0 between messages.
  size_t missing() const { return reader_.missing(); }
  /// Looks after the client, a few times in a stall timeout: who lets it pass without a byte that
  /// must come, or without reading an answer that is complete, loses the call.
  void Tick();
  /// The stream is gone. The session forgets the call next.
  void Detach();

  int32_t stream() const { return stream_; }
  Encoding response_encoding() const { return response_encoding_; }
  size_t unsent() const { return unsent_; }
  /// How the call ends, once everything is sent; nothing while it goes on.
  const std::optional<CallStatus>& outcome() const { return outcome_; }
  /// Moves the next `size` (at most unsent()) bytes to `queue`.
  void MoveUnsent(size_t size, WriteQueue* queue);

  size_t place = 0;               // for the session's list
  bool headers_sent = false;      // for the session
  bool waiting_for_data = false;  // for the session: the transport asked for bytes in vain
  size_t withheld = 0;            // for the session: received bytes that its window lacks

  /// Whether the client is to wait before it sends more: its window is not given back until then.
  bool WantsLess() const { return away_ || held_ != nullptr || IsFull(); }

  // ---- From the party that works for the call. ----

  /// Brings a result. Any thread, also after the server is gone.
  void Deliver(Delivery delivery);
  /// Completes a message whose headroom is kMessagePrefixSize: compresses it if that is agreed,
  /// makes it smaller and does not hold up a loop, and writes its prefix. Any thread.
  void FinishMessage(codec::proto::EncodedMessage* message) const;
  /// Completes the delivery's message as FinishMessage does, elsewhere if it would hold up a loop,
  /// and delivers. Any thread.
  void FinishAndDeliver(Delivery delivery);
  /// What is left for the loop has come: a delivery, or the call's return from a detour.
  void Arrive(Delivery delivery);
  /// Something on the loop failed for want of memory: the stream is reset.
  void Abandon() noexcept;
  /// A delivery arrived. Loop thread.
  virtual void OnDelivery(Delivery delivery) = 0;

 protected:
  /// One message from the client.
  virtual void OnMessage(StoredBytes message) = 0;
  /// The client will send no more.
  virtual void OnHalfClose() = 0;
  /// Whether only the client can make the call go on.
  virtual bool IsIdle() const = 0;
  /// Nobody waits for the answer any more: reset, disconnected or too late. Comes at most once,
  /// and not after Finish().
  virtual void OnCancelled() = 0;
  /// Whether the client is to read what waits for it before it sends more.
  virtual bool IsFull() const { return false; }
  /// Whether the client owes bytes.
  virtual bool AwaitsBytes() const { return reader_.InMessage(); }

  /// Does on the loop what a detour found out.
  using Return = std::function<void()>;
  /// Runs `work` on another thread because it would hold up the loop, and what it returns on the
  /// loop, unless the call is over by then. What the client sends meanwhile is held.
  void Detour(std::function<Return()> work);
  /// After Finish() both do nothing.
  void SendMessage(codec::proto::EncodedMessage message, base::ByteShare waiting = {});
  /// Sends a message that is no tensors. All clients together leave so many of these unread and no
  /// more; a call whose answer is too much ends.
  void SendSmallAnswer(codec::proto::EncodedMessage message);
  void Finish(CallStatus status);

  /// Ends the call if its deadline has passed although the loop's timer has not fired yet, and
  /// says whether it did. The core refuses a request whose deadline passes in the queue: its
  /// client is to see DEADLINE_EXCEEDED, whichever comes first.
  bool EndIfTooLate();

  bool finished() const { return outcome_.has_value() || host_ == nullptr; }
  /// From the constructor only: responses are compressed as options and client agree.
  void CompressResponses(const RequestHead& head);
  /// Monotonic ns; 0 for none.
  uint64_t deadline_ns() const { return deadline_ns_; }

  ServerContext& context_;
  LoopServices& loop_;  // valid while attached

 private:
  struct Unsent {
    std::shared_ptr<codec::proto::EncodedMessage> message;
    base::ByteShare waiting;
    size_t piece = 0;
    size_t offset = 0;  // in that piece
  };

  // What the client sent while nothing of it could be taken.
  struct Held {
    explicit Held(std::shared_ptr<base::ByteBudget> budget) : bytes(std::move(budget)) {}
    memory::ReceiveBuffer bytes;
    size_t done = 0;   // of that, taken since
    bool end = false;  // and no more will come
  };

  void OnDeadline() override;
  void Cancel();
  Held& held();
  void End(CallStatus status);
  void Feed(std::string_view* data);
  bool CountIncomplete(size_t now);
  void Hold(std::string_view data);
  void TakeHeld();
  void TakePacked(StoredBytes packed);
  void TakeInflated(std::variant<StoredBytes, CallStatus> plain);
  void DropUnsent();

  CallHost* host_;  // null when detached
  const std::shared_ptr<LoopInbox> inbox_;
  const int32_t stream_;
  const Encoding request_encoding_;
  MessageReader reader_;
  uint64_t deadline_ns_ = 0;
  bool received_end_ = false;
  bool away_ = false;                 // on a detour
  std::atomic<bool> is_gone_{false};  // detached: a detour that has not begun is not made
  std::unique_ptr<Held> held_;        // what came meanwhile; null: nothing
  size_t incomplete_ = 0;             // bytes that the session counts for this call
  uint8_t silent_ticks_ = 0;
  Encoding response_encoding_ = Encoding::kIdentity;    // constant after construction
  int compression_level_ = 0;                           // constant after construction
  std::shared_ptr<base::BlockingWorkers> compressors_;  // where responses are compressed
  std::vector<Unsent> outbox_;
  size_t outbox_front_ = 0;
  size_t unsent_ = 0;
  std::optional<CallStatus> outcome_;
};

/// A call with exactly one request message.
class UnaryCall : public Call {
 public:
  using Call::Call;

 protected:
  /// The request is complete.
  virtual void OnRequest(StoredBytes message) = 0;
  void OnDelivery(Delivery delivery) override;

 private:
  void OnMessage(StoredBytes message) final;
  void OnHalfClose() final;
  bool IsIdle() const override { return !is_complete_; }
  bool AwaitsBytes() const final { return true; }

  std::optional<StoredBytes> request_;
  bool is_complete_ = false;  // the request is
};

}  // namespace nereid::frontend::grpc
