// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/tensor_receiver.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "api/version_text.h"

namespace nereid::frontend::grpc {
namespace {

/// Entries beyond these are received with the other fields.
constexpr size_t kMaxEntries = 64;
/// Before each entry but the first, bytes may be left out, fewer than this.
constexpr size_t kAlignment = memory::HostBuffer::kAlignment;

using Reader = codec::proto::RawContentsReader;

/// Returns how much memory the tensors need. `rest` begins with the first one and may be a part of
/// the `size` bytes. A single tensor needs no more than its bytes, which are often a power of two.
size_t RoomFor(std::string_view rest, size_t size) {
  const Reader::Piece first = Reader(size, 1).Next(&rest);
  const size_t header = size - first.entry_size;
  constexpr size_t kMaxHeader = 15;
  const bool is_single = first.kind == Reader::Kind::kEntry && header <= kMaxHeader;
  return is_single ? first.entry_size : size + kMaxEntries * kAlignment;
}

}  // namespace

TensorReceiver::TensorReceiver(std::shared_ptr<base::ByteBudget> budget, size_t start, size_t rest)
    : fields_(budget),
      tensors_(std::move(budget)),
      reader_(rest, kMaxEntries),
      start_left_(start),
      entries_left_(rest) {
  fields_.Start(0, start);
}

std::unique_ptr<TensorReceiver> TensorReceiver::Start(const api::InputMemorySource& source,
                                                      std::shared_ptr<base::ByteBudget> budget,
                                                      std::string_view begin, size_t size) {
  if (size < kMinMessage) return nullptr;
  const auto start = codec::proto::FindRawContents(begin);
  if (!start || size - start->size < kMinMessage) return nullptr;
  // The version of a label may change until the request is complete.
  if (api::IsVersionLabel(start->model_version)) return nullptr;
  const auto version = api::ParseVersionText(start->model_version);
  if (!version.ok()) return nullptr;
  const size_t rest = size - start->size;
  const size_t room = RoomFor(begin.substr(start->size), rest);
  memory::HostBuffer memory = source(std::string(start->model_name), *version, room);
  if (!memory) return nullptr;
  auto receiver =
      std::unique_ptr<TensorReceiver>(new TensorReceiver(std::move(budget), start->size, rest));
  receiver->room_ = room;
  receiver->tensors_.Start(0, room);
  if (!receiver->tensors_.Use(std::move(memory))) return nullptr;
  return receiver;
}

TensorReceiver::Outcome TensorReceiver::Append(std::string_view bytes) {
  received_ += bytes.size();
  Outcome outcome = Outcome::kDone;
  if (start_left_ > 0) {
    const std::string_view start = bytes.substr(0, start_left_);
    bytes.remove_prefix(start.size());
    start_left_ -= start.size();
    outcome = fields_.Append(start);
  }
  while (!bytes.empty() && outcome == Outcome::kDone) {
    const size_t before = bytes.size();
    const Reader::Piece piece = reader_.Next(&bytes);
    entries_left_ -= before - bytes.size();
    switch (piece.kind) {
      case Reader::Kind::kPart:
        break;
      case Reader::Kind::kEntry:
        outcome = BeginEntry(piece.entry_size);
        break;
      case Reader::Kind::kBytes:
        outcome = tensors_.Append(piece.bytes);
        break;
      case Reader::Kind::kRest:
        outcome = fields_.Append(piece.bytes);
        break;
    }
  }
  return outcome;
}

TensorReceiver::Outcome TensorReceiver::BeginEntry(size_t size) {
  size_t skipped = (kAlignment - tensors_.size() % kAlignment) % kAlignment;
  if (room_ - tensors_.size() < skipped + entries_left_) skipped = 0;
  while (skipped > 0) {
    std::span<char> room;
    const Outcome outcome = tensors_.MakeRoom(skipped, &room);
    if (outcome != Outcome::kDone) return outcome;
    tensors_.Advance(room.size());
    skipped -= room.size();
  }
  entries_.push_back({tensors_.size(), size});
  return Outcome::kDone;
}

StoredBytes TensorReceiver::Take() {
  StoredBytes message;
  message.bytes = fields_.size() > 0 ? fields_.view() : std::string_view();
  message.storage = fields_.Take();
  message.tensor_storage = tensors_.Take();
  const char* const data = message.tensor_storage.data();
  for (const Entry& entry : entries_) message.tensors.emplace_back(data + entry.begin, entry.size);
  message.wire_size = received_;
  return message;
}

}  // namespace nereid::frontend::grpc
