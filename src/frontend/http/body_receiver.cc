// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/body_receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontend/http/request_body.h"

namespace nereid::frontend::http {

void BodyReceiver::Start(const RequestHead& head, uint64_t size) {
  json_.clear();
  json_received_ = 0;
  size_ = size;
  if (!Borrow(head, size)) buffer_.Start(BodyOffset(head, size), size);
}

bool BodyReceiver::Borrow(const RequestHead& head, uint64_t size) {
  const size_t json_size = take_memory_ == nullptr ? 0 : JsonReceivedApart(head, size);
  if (json_size == 0) return false;
  memory::HostBuffer borrowed = take_memory_(size - json_size);
  if (!borrowed) return false;
  buffer_.Start(0, size - json_size);
  if (!buffer_.Use(std::move(borrowed))) return false;
  json_.resize(json_size);
  return true;
}

// The place of the tensors is chosen as if the size were the largest.
memory::ReceiveBuffer* BodyReceiver::StartUnknown(const RequestHead& head, uint64_t max_size) {
  json_.clear();
  json_received_ = 0;
  buffer_.Start(BodyOffset(head, max_size), 0);
  return &buffer_;
}

BodyReceiver::Outcome BodyReceiver::MakeRoom(size_t max, std::span<char>* room) {
  if (!IsInJson()) return buffer_.MakeRoom(std::min(size_ - received(), max), room);
  *room = std::span(json_).subspan(json_received_, std::min(json_.size() - json_received_, max));
  return Outcome::kDone;
}

void BodyReceiver::Advance(size_t size) {
  if (!IsInJson()) return buffer_.Advance(size);
  json_received_ += size;
}

BodyReceiver::Outcome BodyReceiver::Append(std::string_view* input) {
  while (!input->empty() && !is_complete()) {
    std::span<char> room;
    if (const Outcome outcome = MakeRoom(input->size(), &room); outcome != Outcome::kDone) {
      return outcome;
    }
    std::memcpy(room.data(), input->data(), room.size());
    Advance(room.size());
    input->remove_prefix(room.size());
  }
  return Outcome::kDone;
}

Body BodyReceiver::Take() {
  Body body{buffer_.Take(), buffer_.offset(), buffer_.size(), std::exchange(json_, {})};
  json_received_ = 0;
  return body;
}

memory::HostBuffer BodyReceiver::Drop() {
  memory::HostBuffer memory = buffer_.Take();
  buffer_.Start(0, 0);
  json_ = {};
  json_received_ = 0;
  return memory;
}

}  // namespace nereid::frontend::http
