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
  const size_t taken = std::min(data->size(), missing());
  if (filled() == 0 && taken > 0) ChooseMemory(data->substr(0, taken));
  if (!Append(data->substr(0, taken))) return Event::kError;
  data->remove_prefix(taken);
  if (missing() > 0) return Event::kNeedMore;
  prefix_filled_ = 0;
  return prefix_[0] == 0 ? Event::kMessage : Event::kPacked;
}

bool MessageReader::Append(std::string_view bytes) {
  switch (tensors_ == nullptr ? body_.Append(bytes) : tensors_->Append(bytes)) {
    case memory::ReceiveBuffer::Outcome::kDone:
      return true;
    case memory::ReceiveBuffer::Outcome::kOverBudget:
      Fail(OverBudget());
      return false;
    case memory::ReceiveBuffer::Outcome::kNoMemory:
      Fail(OutOfMemory());
      return false;
  }
  return false;
}

/// Decides with the first bytes of a message where it is received.
void MessageReader::ChooseMemory(std::string_view begin) {
  if (tensor_source_ == nullptr || *tensor_source_ == nullptr || prefix_[0] != 0) return;
  tensors_ = TensorReceiver::Start(*tensor_source_, budget_, begin, size_);
}

bool MessageReader::BeginMessage() {
  constexpr size_t kAlignment = memory::HostBuffer::kAlignment;
  size_ = static_cast<size_t>(prefix_[1]) << 24 | static_cast<size_t>(prefix_[2]) << 16 |
          static_cast<size_t>(prefix_[3]) << 8 | prefix_[4];
  if (prefix_[0] > 1) {
    Fail({kGrpcInternal,
          "a message's compression flag is " + std::to_string(prefix_[0]) + ", expected 0 or 1"});
    return false;
  }
  if (prefix_[0] == 1 && encoding_ == Encoding::kIdentity) {
    Fail({kGrpcInternal,
          "a message is marked as compressed, but grpc-encoding names no compression"});
    return false;
  }
  if (size_ > limit_) {
    Fail({kGrpcResourceExhausted, "Received message larger than max (" + std::to_string(size_) +
                                      " vs. " + std::to_string(limit_) + ")"});
    return false;
  }
  body_.Start((kAlignment - size_ % kAlignment) % kAlignment, size_);
  return true;
}

StoredBytes MessageReader::TakeMessage() {
  if (tensors_ != nullptr) {
    StoredBytes message = tensors_->Take();
    tensors_.reset();
    body_.Start(0, 0);
    return message;
  }
  const std::string_view bytes = size_ > 0 ? body_.view() : std::string_view();
  StoredBytes message{.storage = body_.Take(), .bytes = bytes, .wire_size = bytes.size()};
  body_.Start(0, 0);
  return message;
}

MessageReader::Event MessageReader::Fail(CallStatus status) {
  error_ = std::move(status);
  tensors_.reset();
  body_.Start(0, 0);
  return Event::kError;
}

}  // namespace nereid::frontend::grpc
