// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_stream.h"

#include <utility>

namespace nereid::frontend::http {

ReplyStream::ReplyStream(size_t limit, std::chrono::milliseconds patience, Wake wake)
    : budget_(std::make_shared<base::ByteBudget>(limit, patience)), wake_(std::move(wake)) {}

bool ReplyStream::Write(int status, std::string text, bool may_wait) {
  Piece piece{std::move(text), {}};
  if (!budget_->Take(piece.text.size(), may_wait, &piece.waiting)) return false;
  Add(status, std::move(piece), /*end=*/false);
  return true;
}

void ReplyStream::EndWith(int status, std::string text) {
  Piece piece{std::move(text), {}};
  piece.waiting = budget_->Force(piece.text.size());
  Add(status, std::move(piece), /*end=*/true);
  budget_->Close();  // refuses the threads that wait to write
}

void ReplyStream::End() { Add(200, {}, /*end=*/true); }

void ReplyStream::Add(int status, Piece piece, bool end) {
  Wake wake;
  {
    const base::MutexLock lock(mutex_);
    if (wake_ == nullptr || ready_.ended) return;
    if (!std::exchange(has_status_, true)) ready_.status = status;
    if (!piece.text.empty()) ready_.pieces.push_back(std::move(piece));
    ready_.ended = end;
    if (!std::exchange(is_woken_, true)) wake = wake_;
  }
  if (wake != nullptr) wake(shared_from_this());
}

ReplyStream::Ready ReplyStream::Take() {
  const base::MutexLock lock(mutex_);
  is_woken_ = false;
  return {std::exchange(ready_.pieces, {}), ready_.status, ready_.ended};
}

void ReplyStream::Close() {
  budget_->Close();
  // Destroyed after the lock is released: `dropped` may hold the last reference to the connection.
  Wake dropped;
  std::vector<Piece> pieces;
  const base::MutexLock lock(mutex_);
  dropped.swap(wake_);
  pieces.swap(ready_.pieces);
}

}  // namespace nereid::frontend::http
