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
#include "memory/receive_buffer.h"

namespace nereid::frontend::grpc {



/// Cuts the bytes of a call into messages. Each message gets a buffer of its own that grows as
/// bytes come, and is charged to a budget until the message is gone.
class MessageReader {
 public:
  enum class Event { kNeedMore, kMessage, kPacked, kError };

  /// `limit`: the largest message. `budget` may be null, for no bound.
  MessageReader(size_t limit, Encoding encoding, std::shared_ptr<base::ByteBudget> budget)
      : limit_(limit), encoding_(encoding), body_(std::move(budget)) {}

  /// Takes bytes from the front of `data`, up to the end of one message. On kMessage, and on
  /// kPacked for a compressed one, TakeMessage() has it, and the rest of `data` is still to be
  /// read; on kError see error().
  Event Read(std::string_view* data);

  /// The message's end is aligned to 64 bytes (unless it came compressed): raw tensor contents are
  /// its last field, so the last tensor is aligned if its size is a multiple of its element's.
  StoredBytes TakeMessage();

  /// Whether a message has begun and not ended.
  bool InMessage() const { return prefix_filled_ > 0; }
  /// Bytes of the message that have come.
  size_t filled() const { return body_.size(); }
  /// Bytes that the message lacks; 0 while its size is not known.
  size_t missing() const { return prefix_filled_ < kMessagePrefixSize ? 0 : size_ - body_.size(); }
  const CallStatus& error() const { return error_; }

 private:
  bool BeginMessage();
  bool Append(std::string_view bytes);
  Event Fail(CallStatus status);

  const size_t limit_;
  const Encoding encoding_;
  std::array<uint8_t, kMessagePrefixSize> prefix_ = {};
  size_t prefix_filled_ = 0;
  memory::ReceiveBuffer body_;
  size_t size_ = 0;  // of the message whose bytes come
  CallStatus error_;
};

}  // namespace nereid::frontend::grpc
