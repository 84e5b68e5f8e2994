// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/inbound_messages.h"

#include <algorithm>
#include <new>
#include <utility>

#include "codec/compression/compression.h"

namespace nereid::frontend::grpc {
namespace {

// What is decompressed on an event loop: compressed bytes that are tried there, and the size that
// they may have afterwards.
constexpr size_t kMaxPackedOnLoop = size_t{64} << 10;
constexpr size_t kMaxInflatedOnLoop = size_t{256} << 10;
// A backlog is read in slices of this size, or to the end of a message that is larger.
constexpr size_t kBacklogSlice = 2048;

}  // namespace

InboundMessages::InboundMessages(const GrpcOptions& options, Encoding encoding,
                                 http2::IncompleteBytes& incomplete, Receiver& receiver)
    : options_(options),
      encoding_(encoding),
      incomplete_(incomplete),
      receiver_(receiver),
      reader_(options.max_message_size, encoding, options.receive_budget) {}

void InboundMessages::Receive(std::string_view data) {
  if (phase_ == Phase::kClosed) return;
  try {
    // Bytes must not overtake those that are stored.
    if (!paused_ && backlog_ == nullptr) Read(&data);
    if (!data.empty()) Store(data);
    if (phase_ == Phase::kClosed) return;
    CountIncomplete(reader_.filled() + (backlog_ == nullptr ? 0 : backlog_->bytes.size()));
  } catch (const std::bad_alloc&) {
    receiver_.End(OutOfMemory());
  }
}

void InboundMessages::CountIncomplete(size_t now) {
  if (!incomplete_.Change(std::exchange(counted_, now), now)) receiver_.End(OverBudget());
}

void InboundMessages::Read(std::string_view* data) {
  // The receiver may pause or close this object in every step.
  while (!data->empty() && phase_ != Phase::kClosed && !paused_) {
    switch (reader_.Read(data)) {
      case MessageReader::Event::kNeedMore:
        break;
      case MessageReader::Event::kMessage:
        receiver_.OnMessage(reader_.TakeMessage());
        break;
      case MessageReader::Event::kPacked:
        Decompress(reader_.TakeMessage());
        break;
      case MessageReader::Event::kError:
        receiver_.End(reader_.error());
        break;
    }
  }
  if (phase_ == Phase::kClosed) *data = {};
}

void InboundMessages::ReceiveEnd() {
  if (phase_ == Phase::kClosed) return;
  if (paused_ || backlog_ != nullptr) {
    backlog().end = true;
    return;
  }
  phase_ = Phase::kEnded;
  try {
    if (reader_.InMessage()) {
      receiver_.End({kGrpcInternal, "the call ended in the middle of a message"});
    } else {
      receiver_.OnHalfClose();
    }
  } catch (const std::bad_alloc&) {
    receiver_.End(OutOfMemory());
  }
}

InboundMessages::Backlog& InboundMessages::backlog() {
  if (backlog_ == nullptr) backlog_ = std::make_unique<Backlog>(options_.receive_budget);
  return *backlog_;
}

void InboundMessages::Store(std::string_view data) {
  switch (backlog().bytes.Append(data)) {
    case memory::ReceiveBuffer::Outcome::kDone:
      return;
    case memory::ReceiveBuffer::Outcome::kOverBudget:
      return receiver_.End(OverBudget());
    case memory::ReceiveBuffer::Outcome::kNoMemory:
      return receiver_.End(OutOfMemory());
  }
}

bool InboundMessages::ReadBacklogSlice() {
  if (backlog_ == nullptr) return false;
  const std::string_view rest = backlog_->bytes.view().substr(backlog_->done);
  const std::string_view slice = rest.substr(0, std::max(kBacklogSlice, missing()));
  std::string_view unread = slice;
  Read(&unread);
  if (phase_ == Phase::kClosed) return false;
  backlog_->done += slice.size() - unread.size();
  return !paused_ && backlog_->done < backlog_->bytes.size();
}

bool InboundMessages::DropBacklog() {
  const bool has_end = backlog_ != nullptr && backlog_->end;
  backlog_.reset();
  return has_end;
}

void InboundMessages::Detach() {
  Close();
  incomplete_.Change(std::exchange(counted_, 0), 0);
}

void InboundMessages::Decompress(StoredBytes packed) {
  const uint64_t limit =
      codec::compression::InflationLimit(packed.bytes.size(), options_.max_message_size);
  const std::shared_ptr<base::ByteBudget>& budget = options_.receive_budget;
  // How large the message becomes is not known before it is decompressed. Most are small: the loop
  // tries with a low limit first, and a message that exceeds it goes to another thread.
  if (packed.bytes.size() <= kMaxPackedOnLoop) {
    auto plain = grpc::Decompress(packed.bytes, encoding_,
                                  std::min<uint64_t>(limit, kMaxInflatedOnLoop), budget);
    const CallStatus* const failure = std::get_if<CallStatus>(&plain);
    const bool is_small = failure == nullptr || failure->code != kGrpcResourceExhausted ||
                          limit <= kMaxInflatedOnLoop;
    if (is_small) return TakeDecompressed(std::move(plain));
  }
  // std::function requires a copyable function.
  auto held = std::make_shared<StoredBytes>(std::move(packed));
  receiver_.Detour([this, held, budget, limit, encoding = encoding_]() -> Return {
    auto plain = std::make_shared<std::variant<StoredBytes, CallStatus>>(
        grpc::Decompress(held->bytes, encoding, limit, budget));
    *held = {};
    return [this, plain] { TakeDecompressed(std::move(*plain)); };
  });
}

void InboundMessages::TakeDecompressed(std::variant<StoredBytes, CallStatus> plain) {
  if (CallStatus* const failure = std::get_if<CallStatus>(&plain)) {
    return receiver_.End(std::move(*failure));
  }
  std::get<StoredBytes>(plain).was_compressed = true;
  receiver_.OnMessage(std::move(std::get<StoredBytes>(plain)));
}

}  // namespace nereid::frontend::grpc
