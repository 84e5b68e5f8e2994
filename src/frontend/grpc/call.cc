// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/timeout_text.h"
#include "base/clock.h"
#include "frontend/grpc/server_context.h"
#include "frontend/grpc/session.h"
#include "frontend/grpc/write_queue.h"

namespace nereid::frontend::grpc {
namespace {

using codec::proto::EncodedMessage;

// Pieces up to this size are copied next to their neighbours: cheaper than a piece of an iovec.
constexpr size_t kCopiedPiece = 4096;

int ZlibLevel(CompressionLevel level) {
  switch (level) {
    case CompressionLevel::kLow:
      return 1;
    case CompressionLevel::kMedium:
      return 6;
    case CompressionLevel::kHigh:
      return 9;
    case CompressionLevel::kNone:
      break;
  }
  return 0;
}

void WritePrefix(EncodedMessage* message, bool compressed) {
  char* const prefix = message->head.get();
  prefix[0] = compressed ? 1 : 0;
  for (int i = 0; i < 4; ++i) prefix[1 + i] = static_cast<char>(message->size >> (24 - 8 * i));
}

}  // namespace

EncodedMessage FrameMessage(std::string_view body) {
  EncodedMessage message;
  message.size = body.size();
  message.head.reset(new char[kMessagePrefixSize + body.size()]);
  if (!body.empty()) std::memcpy(message.head.get() + kMessagePrefixSize, body.data(), body.size());
  message.pieces.emplace_back(message.head.get(), kMessagePrefixSize + body.size());
  WritePrefix(&message, /*compressed=*/false);
  return message;
}

void Call::CompressResponses(const RequestHead& head) {
  compression_level_ = ZlibLevel(context_.options.response_compression);
  if (compression_level_ > 0) response_encoding_ = head.accepted;
}

void Call::FinishMessage(EncodedMessage* message) const {
  WritePrefix(message, /*compressed=*/false);
  if (response_encoding_ == Encoding::kIdentity) return;
  std::vector<std::string_view> pieces = message->pieces;
  pieces.front().remove_prefix(kMessagePrefixSize);
  std::string compressed;
  if (!Compress(pieces, response_encoding_, compression_level_, &compressed).ok()) return;
  if (compressed.size() >= message->size) return;
  *message = FrameMessage(compressed);
  WritePrefix(message, /*compressed=*/true);
}

Call::Call(const CallOrigin& origin)
    : context_(origin.context),
      loop_(origin.loop),
      session_(&origin.session),
      inbox_(origin.loop.inbox()),
      stream_(origin.stream),
      reader_(origin.context.options.max_message_size,
              origin.head.encoding.value_or(Encoding::kIdentity)) {
  if (origin.head.timeout_ns.has_value()) {
    deadline_ns_ = api::DeadlineAfter(loop_.NowNs(), *origin.head.timeout_ns);
  }
}

Call::~Call() = default;

void Call::Begin() {
  if (deadline_ns_ != 0) loop_.AddDeadline(deadline_ns_, this);
}

void Call::ReceiveData(std::string_view data) {
  while (!data.empty() && !finished()) {
    switch (reader_.Read(&data)) {
      case MessageReader::Event::kNeedMore:
        break;
      case MessageReader::Event::kMessage:
        OnMessage(reader_.TakeMessage());
        break;
      case MessageReader::Event::kError:
        Cancel();
        Finish(reader_.error());
        break;
    }
  }
}

void Call::ReceiveEnd() {
  if (finished()) return;
  if (reader_.InMessage()) {
    Cancel();
    Finish({kGrpcInternal, "the call ended in the middle of a message"});
    return;
  }
  OnHalfClose();
}

void Call::EndIfIdle() {
  if (finished() || !IsIdle()) return;
  Cancel();
  Finish({kGrpcUnavailable, "Server is stopping"});
}

void Call::OnDeadline() {
  deadline_ns_ = 0;
  if (finished()) return;
  Cancel();
  if (unsent_ > 0) {
    // The peer's window may never let the rest out.
    session_->ResetStream(*this, NGHTTP2_CANCEL);
    outcome_ = CallStatus{kGrpcDeadlineExceeded, ""};
    return;
  }
  Finish({kGrpcDeadlineExceeded, "Deadline Exceeded"});
}

bool Call::EndIfTooLate() {
  if (deadline_ns_ == 0 || finished() || loop_.NowNs() < deadline_ns_) return false;
  loop_.RemoveDeadline(deadline_ns_, this);
  OnDeadline();
  return true;
}

void Call::Cancel() {
  if (!finished()) OnCancelled();
}

void Call::Detach() {
  Cancel();
  if (deadline_ns_ != 0) loop_.RemoveDeadline(deadline_ns_, this);
  deadline_ns_ = 0;
  session_ = nullptr;
  DropUnsent();
}

void Call::DropUnsent() {
  outbox_.clear();
  outbox_front_ = 0;
  unsent_ = 0;
}

void Call::Deliver(Delivery delivery) {
  // Only compared: when the loop is gone nobody runs on it.
  if (LoopServices::Current() == &loop_) {
    OnDelivery(std::move(delivery));
    return;
  }
  delivery.call = shared_from_this();
  inbox_->Put(std::move(delivery));
}

void Call::SendMessage(EncodedMessage message, base::ByteShare waiting) {
  if (finished()) return;
  for (std::string_view piece : message.pieces) unsent_ += piece.size();
  outbox_.push_back({std::make_shared<EncodedMessage>(std::move(message)), std::move(waiting)});
  session_->CallChanged(*this);
}

void Call::Finish(CallStatus status) {
  if (finished()) return;
  outcome_ = std::move(status);
  session_->CallChanged(*this);
}

void Call::MoveUnsent(size_t size, WriteQueue* queue) {
  size = std::min(size, unsent_);
  unsent_ -= size;
  while (size > 0) {
    Unsent& front = outbox_[outbox_front_];
    const std::string_view piece = front.message->pieces[front.piece].substr(front.offset);
    const size_t taken = std::min(size, piece.size());
    if (taken <= kCopiedPiece) {
      queue->Copy(piece.substr(0, taken));
    } else {
      queue->View(piece.substr(0, taken), front.message);
    }
    size -= taken;
    front.offset += taken;
    if (taken < piece.size()) return;
    front.offset = 0;
    if (++front.piece == front.message->pieces.size()) {
      front.message.reset();
      front.waiting = {};
      ++outbox_front_;
    }
  }
  if (outbox_front_ == outbox_.size()) DropUnsent();
}

void UnaryCall::OnMessage(StoredBytes message) {
  if (request_.has_value()) {
    Finish({kGrpcInternal, "the call carries more than one request message"});
    return;
  }
  request_ = std::move(message);
}

void UnaryCall::OnHalfClose() {
  if (!request_.has_value()) {
    Finish({kGrpcInternal, "the call ended without a request message"});
    return;
  }
  StoredBytes request = std::move(*request_);
  is_complete_ = true;
  OnRequest(std::move(request));
}

void UnaryCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  if (delivery.message.has_value()) SendMessage(std::move(*delivery.message));
  Finish(delivery.status.value_or(CallStatus{}));
}

}  // namespace nereid::frontend::grpc
