// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_frame.h"
#include "frontend/grpc/tensor_receiver.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::grpc {

/// Cuts the bytes of a call into messages. Each message has its own buffer, which grows as bytes
/// arrive and is charged to a budget until the message is destroyed.
class MessageReader {
 public:
  enum class Event { kNeedMore, kMessage, kPacked, kError };

  /// `limit` is the maximum size of a message. A null `budget` means no limit.
  MessageReader(size_t limit, Encoding encoding, std::shared_ptr<base::ByteBudget> budget)
      : limit_(limit), encoding_(encoding), budget_(std::move(budget)), body_(budget_) {}

  /// From now on messages are ModelInferRequests, whose tensors may be received in memory of
  /// `source`, which must outlive the reader.
  void ReceiveTensorsIn(const api::InputMemorySource& source) { tensor_source_ = &source; }

  /// Removes bytes from the front of `data`, up to the end of one message. After kMessage, or
  /// kPacked for a compressed message, the caller calls TakeMessage() and then reads the rest of
  /// `data`. After kError, error() has the reason.
  Event Read(std::string_view* data);

  /// Returns the message. Its end is aligned to 64 bytes: raw tensor contents are the last field of
  /// a message, so that the last tensor is aligned to the size of its elements.
  StoredBytes TakeMessage();

  /// Returns whether a message has begun and not ended.
  bool InMessage() const { return prefix_filled_ > 0; }
  /// Returns how many bytes of the message have arrived.
  size_t filled() const { return tensors_ == nullptr ? body_.size() : tensors_->received(); }
  /// Returns how many bytes the message lacks; 0 while its size is not known.
  size_t missing() const { return prefix_filled_ < kMessagePrefixSize ? 0 : size_ - filled(); }
  const CallStatus& error() const { return error_; }

 private:
  bool BeginMessage();
  void ChooseMemory(std::string_view begin);
  bool Append(std::string_view bytes);
  Event Fail(CallStatus status);

  const size_t limit_;
  const Encoding encoding_;
  std::array<uint8_t, kMessagePrefixSize> prefix_ = {};
  size_t prefix_filled_ = 0;
  const std::shared_ptr<base::ByteBudget> budget_;
  memory::ReceiveBuffer body_;
  const api::InputMemorySource* tensor_source_ = nullptr;
  std::unique_ptr<TensorReceiver> tensors_;  // has the message instead of body_, or is null
  size_t size_ = 0;                          // of the message that is arriving
  CallStatus error_;
};

}  // namespace nereid::frontend::grpc
