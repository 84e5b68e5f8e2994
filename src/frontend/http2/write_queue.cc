// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/write_queue.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

namespace nereid::frontend::http2 {
namespace {

constexpr size_t kMaxPieces = 64;
constexpr size_t kKeptCopies = size_t{64} << 10;

}  // namespace

void WriteQueue::Copy(std::string_view bytes) {
  const size_t offset = copies_.size();
  copies_.append(bytes);
  pending_ += bytes.size();
  if (segments_.size() > front_ && segments_.back().data == nullptr) {
    segments_.back().size += bytes.size();  // copies lie one after the other
  } else {
    segments_.push_back({nullptr, offset, bytes.size()});
  }
}

void WriteQueue::View(std::string_view bytes, std::shared_ptr<const void> owner) {
  segments_.push_back({bytes.data(), 0, bytes.size()});
  if (owners_.empty() || owners_.back() != owner) owners_.push_back(std::move(owner));
  pending_ += bytes.size();
}

WriteQueue::Outcome WriteQueue::Write(net::ByteStream& stream) {
  while (pending_ > 0) {
    std::array<iovec, kMaxPieces> pieces;
    size_t count = 0;
    size_t done = front_done_;
    for (size_t i = front_; i < segments_.size() && count < kMaxPieces; ++i) {
      const Segment& segment = segments_[i];
      const char* const data =
          segment.data == nullptr ? copies_.data() + segment.offset : segment.data;
      pieces[count++] = {const_cast<char*>(data) + done, segment.size - done};
      done = 0;
    }
    const net::ByteStream::Outcome written = stream.Write({pieces.data(), count});
    if (written.state == net::ByteStream::State::kBlocked) return Outcome::kBlocked;
    if (written.state == net::ByteStream::State::kLost) return Outcome::kFailed;
    pending_ -= written.size;
    front_done_ += written.size;
    while (front_ < segments_.size() && front_done_ >= segments_[front_].size) {
      front_done_ -= segments_[front_++].size;
    }
  }
  Clear();
  return Outcome::kDone;
}

void WriteQueue::Clear() {
  if (copies_.capacity() > kKeptCopies) {
    copies_ = std::string();
  } else {
    copies_.clear();
  }
  segments_.clear();
  owners_.clear();
  front_ = front_done_ = pending_ = 0;
}

}  // namespace nereid::frontend::http2
