// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/outbox.h"

#include <algorithm>
#include <utility>

namespace nereid::frontend::http2 {
namespace {

// Pieces up to this size are copied next to their neighbors: cheaper than another iovec.
constexpr size_t kMaxCopiedPiece = 4096;

}  // namespace

void Outbox::Push(std::span<const std::string_view> pieces,
                  const std::shared_ptr<const void>& owner, base::ByteShare share) {
  const size_t before = pieces_.size();
  for (const std::string_view piece : pieces) {
    if (piece.empty()) continue;
    pieces_.push_back({piece, owner, {}});
    unsent_ += piece.size();
  }
  if (pieces_.size() > before) pieces_.back().share = std::move(share);
}

void Outbox::MoveTo(size_t size, WriteQueue* queue) {
  size = std::min(size, unsent_);
  unsent_ -= size;
  while (size > 0) {
    Piece& front = pieces_[front_];
    const std::string_view taken = front.bytes.substr(0, size);
    if (taken.size() <= kMaxCopiedPiece) {
      queue->Copy(taken);
    } else {
      queue->View(taken, front.owner);
    }
    size -= taken.size();
    front.bytes.remove_prefix(taken.size());
    if (!front.bytes.empty()) return;
    front.owner.reset();
    front.share = {};
    ++front_;
  }
  if (front_ == pieces_.size()) Clear();
}

void Outbox::Clear() {
  pieces_.clear();
  front_ = 0;
  unsent_ = 0;
}

}  // namespace nereid::frontend::http2
