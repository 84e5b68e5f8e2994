// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/outbox.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace nereid::frontend::grpc {
namespace {

// Pieces up to this size are copied next to their neighbors: cheaper than another iovec.
constexpr size_t kMaxCopiedPiece = 4096;

}  // namespace

void Outbox::Push(codec::proto::EncodedMessage message, base::ByteShare share) {
  for (std::string_view piece : message.pieces) unsent_ += piece.size();
  entries_.push_back(
      {std::make_shared<codec::proto::EncodedMessage>(std::move(message)), std::move(share)});
}

void Outbox::MoveTo(size_t size, WriteQueue* queue) {
  size = std::min(size, unsent_);
  unsent_ -= size;
  while (size > 0) {
    Entry& front = entries_[front_];
    const std::string_view piece = front.message->pieces[front.piece].substr(front.offset);
    const size_t taken = std::min(size, piece.size());
    if (taken <= kMaxCopiedPiece) {
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
      front.share = {};
      ++front_;
    }
  }
  if (front_ == entries_.size()) Clear();
}

void Outbox::Clear() {
  entries_.clear();
  front_ = 0;
  unsent_ = 0;
}

}  // namespace nereid::frontend::grpc
