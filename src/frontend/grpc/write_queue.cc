// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/write_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace nereid::frontend::grpc {
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

WriteQueue::Outcome WriteQueue::Write(int socket) {
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
    msghdr message = {};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t written = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::kBlocked : Outcome::kFailed;
    }
    pending_ -= static_cast<size_t>(written);
    front_done_ += static_cast<size_t>(written);
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

}  // namespace nereid::frontend::grpc
