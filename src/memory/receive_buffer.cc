// SPDX-License-Identifier: Apache-2.0
#include "memory/receive_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace nereid::memory {
namespace {

constexpr size_t kFirstCapacity = ReceiveBuffer::kUncharged;
// The capacity doubles up to this size, so that little is copied. Above it the capacity grows in
// steps of this size, so that the charged bytes stay close to the received bytes.
constexpr size_t kMaxStep = size_t{64} << 20;

}  // namespace

void ReceiveBuffer::Start(size_t offset, size_t announced) {
  buffer_.Reset();
  offset_ = offset;
  announced_ = announced;
  size_ = 0;
}

bool ReceiveBuffer::Use(HostBuffer borrowed) {
  if (budget_ != nullptr) {
    base::ByteShare share;
    if (budget_->IsHalfSpent() || !budget_->Take(borrowed.size(), /*may_wait=*/false, &share)) {
      return false;
    }
    borrowed.Charge(std::move(share));
  }
  buffer_ = std::move(borrowed);
  return true;
}

size_t ReceiveBuffer::NextCapacity(size_t needed) const {
  const size_t all = announced_ > SIZE_MAX - offset_ ? SIZE_MAX : offset_ + announced_;
  const size_t held = buffer_.size();
  // The whole announced size is taken at once only for the first bytes of a message, and only while
  // the budget is not short. Otherwise a peer could reserve memory by announcing much and sending
  // little.
  const bool is_roomy = all <= kUncharged || budget_ == nullptr || !budget_->IsHalfSpent();
  if (held == 0 && needed <= all && announced_ <= kMaxStep && is_roomy) return all;
  const size_t step = std::clamp(held, kFirstCapacity, kMaxStep);
  const size_t grown = std::max(needed, held + step);
  // The announced size limits the growth as long as the peer does not exceed it.
  return needed <= all ? std::min(grown, all) : grown;
}

ReceiveBuffer::Outcome ReceiveBuffer::Reserve(size_t capacity) {
  const size_t used = buffer_.size() == 0 ? 0 : offset_ + size_;
  if (budget_ == nullptr || capacity <= kUncharged) {
    return buffer_.Grow(capacity, used) ? Outcome::kDone : Outcome::kNoMemory;
  }
  const size_t charged = buffer_.share().size();
  base::ByteShare first;
  const bool taken = charged == 0 ? budget_->Take(capacity, /*may_wait=*/false, &first)
                                  : buffer_.share().Grow(capacity - charged);
  // Charged before the memory grows, so that the budget is never exceeded.
  if (!taken) return Outcome::kOverBudget;
  // On failure the share keeps its new size. The caller then drops the buffer, and the share with
  // it.
  if (!buffer_.Grow(capacity, used)) return Outcome::kNoMemory;
  if (charged == 0) buffer_.Charge(std::move(first));
  return Outcome::kDone;
}

ReceiveBuffer::Outcome ReceiveBuffer::MakeRoom(size_t wanted, std::span<char>* room) {
  const size_t used = offset_ + size_;
  if (used >= buffer_.size()) {
    const Outcome outcome = Reserve(NextCapacity(used + 1));
    if (outcome != Outcome::kDone) return outcome;
  }
  const size_t end = used + std::min(wanted, buffer_.size() - used);
  const size_t ready = buffer_.Prepare(used, end);
  if (ready == 0) return Outcome::kNoMemory;
  *room = {buffer_.data() + used, ready};
  return Outcome::kDone;
}

ReceiveBuffer::Outcome ReceiveBuffer::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    std::span<char> room;
    const Outcome outcome = MakeRoom(bytes.size(), &room);
    if (outcome != Outcome::kDone) return outcome;
    std::memcpy(room.data(), bytes.data(), room.size());
    Advance(room.size());
    bytes.remove_prefix(room.size());
  }
  return Outcome::kDone;
}

}  // namespace nereid::memory
