// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/message_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nereid::frontend::grpc {

MessageReader::Event MessageReader::Read(std::string_view* data) {
  if (error_.code != kGrpcOk) return Event::kError;
  if (prefix_filled_ < kMessagePrefixSize) {
    const size_t taken = std::min(data->size(), kMessagePrefixSize - prefix_filled_);
    std::memcpy(prefix_.data() + prefix_filled_, data->data(), taken);
    prefix_filled_ += taken;
    data->remove_prefix(taken);
    if (prefix_filled_ < kMessagePrefixSize) return Event::kNeedMore;
    if (!BeginMessage()) return Event::kError;
  }
  const size_t taken = std::min(data->size(), size_ - filled_);
  if (taken > 0) std::memcpy(body_ + filled_, data->data(), taken);
  filled_ += taken;
  data->remove_prefix(taken);
  return filled_ == size_ ? EndMessage() : Event::kNeedMore;
}

bool MessageReader::BeginMessage() {
  constexpr size_t kAlignment = memory::HostBuffer::kAlignment;
  size_ = static_cast<size_t>(prefix_[1]) << 24 | static_cast<size_t>(prefix_[2]) << 16 |
          static_cast<size_t>(prefix_[3]) << 8 | prefix_[4];
  filled_ = 0;
  if (prefix_[0] > 1) {
    Fail(kGrpcInternal,
         "a message's compression flag is " + std::to_string(prefix_[0]) + ", expected 0 or 1");
    return false;
  }
  if (prefix_[0] == 1 && encoding_ == Encoding::kIdentity) {
    Fail(kGrpcInternal,
         "a message is marked as compressed, but grpc-encoding names no compression");
    return false;
  }
  if (size_ > limit_) {
    Fail(kGrpcResourceExhausted, "Received message larger than max (" + std::to_string(size_) +
                                     " vs. " + std::to_string(limit_) + ")");
    return false;
  }
  const size_t padding = (kAlignment - size_ % kAlignment) % kAlignment;
  storage_ = memory::HostBuffer::Allocate(size_ + padding);
  if (size_ > 0 && !storage_) {
    Fail(kGrpcResourceExhausted,
         "out of memory: no room for a message of " + std::to_string(size_) + " bytes");
    return false;
  }
  body_ = storage_.data() + padding;
  return true;
}

MessageReader::Event MessageReader::EndMessage() {
  prefix_filled_ = 0;
  if (prefix_[0] == 0) {
    message_ = {std::move(storage_), {body_, size_}};
    return Event::kMessage;
  }
  auto plain = Decompress({body_, size_}, encoding_, limit_);
  storage_.Reset();
  if (!plain.ok()) {
    const bool too_large = plain.status().code() == base::StatusCode::kUnavailable;
    return Fail(too_large ? kGrpcResourceExhausted : kGrpcInternal, plain.status().message());
  }
  message_ = std::move(plain).value();
  return Event::kMessage;
}

MessageReader::Event MessageReader::Fail(int code, std::string text) {
  error_ = {code, std::move(text)};
  storage_.Reset();
  return Event::kError;
}

}  // namespace nereid::frontend::grpc
