// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/grpc_options.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/http2/incomplete_bytes.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::grpc {

/// The inbound half of one call: cuts the bytes that the client sends into messages, decompresses
/// these, and gives them to the call in order. While it is paused, because the previous message is
/// being worked on by another thread, it stores what arrives. Event loop thread only.
class InboundMessages {
 public:
  /// A function for the event loop that applies the result of work done on another thread.
  using Return = std::function<void()>;

  /// The call that the messages are for. Each function may pause or close the InboundMessages.
  class Receiver {
   public:
    virtual void OnMessage(StoredBytes message) = 0;
    /// The client sends no more messages.
    virtual void OnHalfClose() = 0;
    /// Ends the call with an error.
    virtual void End(CallStatus status) = 0;
    /// Pauses, runs `work` on another thread, then the function that it returns on the event loop.
    virtual void Detour(std::function<Return()> work) = 0;

   protected:
    ~Receiver() = default;
  };

  /// `encoding` is the request header grpc-encoding. All references must outlive the object;
  /// `incomplete` is used until Detach().
  InboundMessages(const GrpcOptions& options, Encoding encoding, http2::IncompleteBytes& incomplete,
                  Receiver& receiver);

  /// Receives tensors of requests in memory that options.take_input_memory provides. The messages
  /// must be ModelInferRequests. Called before the first one.
  void ReceiveTensorsApart() { reader_.ReceiveTensorsIn(options_.take_input_memory); }

  /// Takes bytes of a DATA frame.
  void Receive(std::string_view data);
  /// Takes END_STREAM.
  void ReceiveEnd();

  void Pause() { paused_ = true; }
  void Resume() { paused_ = false; }
  bool paused() const { return paused_; }

  /// Returns whether bytes, or the client's END_STREAM, are stored.
  bool HasBacklog() const { return backlog_ != nullptr; }
  /// Reads a slice of the stored bytes, a message at most where messages are large. Returns whether
  /// more of them can be read now.
  bool ReadBacklogSlice();
  /// Frees the storage of a backlog that was read to its end, or is not wanted. Returns whether it
  /// ended with the client's END_STREAM.
  bool DropBacklog();

  /// Drops everything that arrives from now on. Is called when the call is finished.
  void Close() { phase_ = Phase::kClosed; }
  /// Does the same, and takes this call's bytes out of the connection's count.
  void Detach();

  /// Returns whether END_STREAM was passed on.
  bool ended() const { return phase_ == Phase::kEnded; }
  /// Returns whether a message has begun and not ended.
  bool InMessage() const { return reader_.InMessage(); }
  /// Returns the bytes that the message lacks; 0 between messages and while its size is not known.
  size_t missing() const { return reader_.missing(); }

 private:
  /// The legal transitions; Pause() and Resume() are independent of them:
  ///
  ///   kOpen -> kEnded    END_STREAM was passed to OnHalfClose(), or ended the call
  ///   kOpen -> kClosed   Close(): the call is finished, and the client may still be sending
  ///   kEnded -> kClosed  Close()
  enum class Phase : uint8_t { kOpen, kEnded, kClosed };

  /// The bytes that arrived while they could not be read.
  struct Backlog {
    explicit Backlog(std::shared_ptr<base::ByteBudget> budget) : bytes(std::move(budget)) {}
    memory::ReceiveBuffer bytes;
    size_t done = 0;   // bytes that have been read since
    bool end = false;  // END_STREAM arrived as well
  };

  void Read(std::string_view* data);
  void Store(std::string_view data);
  Backlog& backlog();
  void CountIncomplete(size_t now);
  void Decompress(StoredBytes packed);
  void TakeDecompressed(std::variant<StoredBytes, CallStatus> plain);

  const GrpcOptions& options_;
  const Encoding encoding_;
  http2::IncompleteBytes& incomplete_;
  Receiver& receiver_;
  MessageReader reader_;
  std::unique_ptr<Backlog> backlog_;  // null for most calls at all times
  size_t counted_ = 0;                // bytes of this call in `incomplete_`
  Phase phase_ = Phase::kOpen;
  bool paused_ = false;
};

}  // namespace nereid::frontend::grpc
