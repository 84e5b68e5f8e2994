// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_status.h"
#include "frontend/grpc/event_loop.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/grpc/request_head.h"

namespace nereid::frontend::grpc {

class Session;
class WriteQueue;
struct ServerContext;

/// What a call is made from.
struct CallOrigin {
  ServerContext& context;
  LoopServices& loop;
  Session& session;
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

  /// Whether the client is to read before it sends more: its window is not given back until then.
  virtual bool WantsLess() const { return false; }

  // ---- From the party that works for the call. ----

  /// Brings a result. Any thread, also after the server is gone.
  void Deliver(Delivery delivery);
  /// Completes a message whose headroom is kMessagePrefixSize: compresses it if that is agreed and
  /// makes it smaller, and writes its prefix. Any thread.
  void FinishMessage(codec::proto::EncodedMessage* message) const;
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

  /// After Finish() both do nothing.
  void SendMessage(codec::proto::EncodedMessage message, base::ByteShare waiting = {});
  void Finish(CallStatus status);

  /// Ends the call if its deadline has passed although the loop's timer has not fired yet, and
  /// says whether it did. The core refuses a request whose deadline passes in the queue: its
  /// client is to see DEADLINE_EXCEEDED, whichever comes first.
  bool EndIfTooLate();

  bool finished() const { return outcome_.has_value() || session_ == nullptr; }
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

  void OnDeadline() override;
  void Cancel();
  void DropUnsent();

  Session* session_;  // null when detached
  const std::shared_ptr<LoopInbox> inbox_;
  const int32_t stream_;
  MessageReader reader_;
  uint64_t deadline_ns_ = 0;
  bool received_end_ = false;
  Encoding response_encoding_ = Encoding::kIdentity;  // constant after construction
  int compression_level_ = 0;                         // constant after construction
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

  std::optional<StoredBytes> request_;
  bool is_complete_ = false;  // the request is
};

}  // namespace nereid::frontend::grpc
