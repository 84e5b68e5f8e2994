// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/message_encoding.h"
#include "memory/host_buffer.h"

namespace nereid::frontend::grpc {

/// Bytes before each message: a compression flag and the length, big-endian.
inline constexpr size_t kMessagePrefixSize = 5;

/// Cuts the bytes of a call into messages. Each message gets a buffer of its own, filled as bytes
/// come; large buffers cost memory only where bytes have come.
class MessageReader {
 public:
  enum class Event { kNeedMore, kMessage, kError };

  MessageReader(size_t limit, Encoding encoding) : limit_(limit), encoding_(encoding) {}

  /// Takes bytes from the front of `data`, up to the end of one message. On kMessage TakeMessage()
  /// has it, and the rest of `data` is still to be read; on kError see error().
  Event Read(std::string_view* data);

  /// The message's end is aligned to 64 bytes (unless it came compressed): raw tensor contents are
  /// its last field, so the last tensor is aligned if its size is a multiple of its element's.
  StoredBytes TakeMessage() { return std::move(message_); }

  /// Whether a message has begun and not ended.
  bool InMessage() const { return prefix_filled_ > 0; }
  const CallStatus& error() const { return error_; }

 private:
  bool BeginMessage();
  Event EndMessage();
  Event Fail(int code, std::string text);

  const size_t limit_;
  const Encoding encoding_;
  std::array<uint8_t, kMessagePrefixSize> prefix_ = {};
  size_t prefix_filled_ = 0;
  memory::HostBuffer storage_;
  char* body_ = nullptr;  // in storage_
  size_t size_ = 0;
  size_t filled_ = 0;
  StoredBytes message_;
  CallStatus error_;
};

}  // namespace nereid::frontend::grpc
