// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/out_queue.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <utility>

namespace nereid::frontend::net {
namespace {

using State = ByteStream::State;

// How many pieces one call of the stream writes.
constexpr size_t kMaxPieces = 64;
// What an empty queue keeps for its next bytes.
constexpr size_t kKeptCopies = size_t{16} << 10;
constexpr size_t kKeptPieces = 256;
// What is written is removed from the front of a container when it is the larger half of it, so
// that each byte is moved once at most. Not for the few bytes of a small container.
constexpr size_t kMinRemovedCopies = 4096;
constexpr size_t kMinRemovedPieces = 32;

}  // namespace

void OutQueue::Copy(std::string_view bytes) {
  if (bytes.empty()) return;
  if (front_ == pieces_.size() || pieces_.back().data != nullptr) {
    pieces_.push_back({nullptr, 0, nullptr});
  }
  copies_.append(bytes);
  pieces_.back().size += bytes.size();
  size_ += bytes.size();
}

void OutQueue::View(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  pieces_.push_back({bytes.data(), bytes.size(), std::move(owner)});
  size_ += bytes.size();
}

void OutQueue::MoveTo(size_t size, OutQueue* to) {
  size = std::min(size, size_);
  while (size != 0) {
    const Piece& front = pieces_[front_];
    const std::string_view taken(DataOf(front), std::min(size, front.size));
    if (front.data == nullptr || taken.size() <= kMaxCopied) {
      to->Copy(taken);
    } else {
      to->View(taken, front.owner);
    }
    size -= taken.size();
    Pop(taken.size());
  }
}

OutQueue::Outcome OutQueue::Write(ByteStream& stream, size_t max) noexcept {
  while (size_ != 0) {
    if (max == 0) return Outcome::kPaused;
    std::array<iovec, kMaxPieces> pieces;
    size_t count = 0;
    size_t size = 0;
    size_t copied = 0;
    for (size_t i = front_; i != pieces_.size() && count != kMaxPieces && size < max; ++i) {
      const Piece& piece = pieces_[i];
      const char* data = DataOf(piece);
      if (piece.data == nullptr) data += std::exchange(copied, copied + piece.size);
      pieces[count++] = {const_cast<char*>(data), std::min(piece.size, max - size)};
      size += piece.size;
    }
    const ByteStream::Outcome written = stream.Write({pieces.data(), count});
    if (written.state == State::kLost) return Outcome::kLost;
    if (written.state == State::kBlocked) return Outcome::kBlocked;
    max -= written.size;
    Pop(written.size);
  }
  return Outcome::kDone;
}

OutQueue::Outcome OutQueue::Send(ByteStream& stream, std::string_view bytes) noexcept {
  Outcome outcome = Write(stream);
  while (outcome == Outcome::kDone && !bytes.empty()) {
    const iovec piece = {const_cast<char*>(bytes.data()), bytes.size()};
    const ByteStream::Outcome written = stream.Write({&piece, 1});
    if (written.state == State::kLost) outcome = Outcome::kLost;
    if (written.state == State::kBlocked) outcome = Outcome::kBlocked;
    bytes.remove_prefix(written.size);
  }
  if (outcome != Outcome::kBlocked) return outcome;
  try {
    Copy(bytes);
    return outcome;
  } catch (const std::exception&) {
    return Outcome::kLost;
  }
}

// Removes bytes from the front.
void OutQueue::Pop(size_t size) {
  size_ -= size;
  if (size_ == 0) return Clear();
  while (size != 0) {
    Piece& front = pieces_[front_];
    const size_t taken = std::min(size, front.size);
    if (front.data == nullptr) {
      copied_ += taken;
    } else {
      front.data += taken;
    }
    size -= taken;
    front.size -= taken;
    if (front.size != 0) break;
    front.owner.reset();
    ++front_;
  }
  if (front_ >= kMinRemovedPieces && front_ * 2 >= pieces_.size()) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
  }
  if (copied_ >= kMinRemovedCopies && copied_ * 2 >= copies_.size()) {
    copies_.erase(0, copied_);
    copied_ = 0;
  }
}

void OutQueue::Clear() {
  pieces_.clear();
  copies_.clear();
  front_ = copied_ = size_ = 0;
  if (pieces_.capacity() > kKeptPieces) pieces_ = {};
  if (copies_.capacity() > kKeptCopies) copies_ = std::string();
}

}  // namespace nereid::frontend::net
