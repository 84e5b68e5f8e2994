// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "api/timeout_text.h"
#include "base/byte_budget.h"
#include "frontend/grpc/exception_guard.h"
#include "frontend/grpc/server_context.h"
#include "frontend/grpc/write_queue.h"

namespace nereid::frontend::grpc {
namespace {

using codec::proto::EncodedMessage;

// Pieces up to this size are copied next to their neighbours: cheaper than a piece of an iovec.
constexpr size_t kCopiedPiece = 4096;
// zlib takes a millisecond for about this much.
constexpr size_t kCompressedOnLoop = size_t{32} << 10;
// What is inflated on a loop: packed bytes that are looked at there, and what may become of them.
constexpr size_t kPackedOnLoop = size_t{64} << 10;
constexpr size_t kInflatedOnLoop = size_t{256} << 10;
// What came during a detour is taken in pieces, and in turns of this length.
constexpr size_t kHeldSlice = 2048;
constexpr uint64_t kHeldTurnNs = 2'000'000;
constexpr int kMostSilentTicks = 4;

int ZlibLevel(CompressionLevel level) {
  switch (level) {
    case CompressionLevel::kLow:
      return 1;
    case CompressionLevel::kMedium:
      return 6;
    case CompressionLevel::kHigh:
      return 9;
    case CompressionLevel::kNone:
      break;
  }
  return 0;
}

void WritePrefix(EncodedMessage* message, bool compressed) {
  char* const prefix = message->head.get();
  prefix[0] = compressed ? 1 : 0;
  for (int i = 0; i < 4; ++i) prefix[1 + i] = static_cast<char>(message->size >> (24 - 8 * i));
}

}  // namespace

EncodedMessage FrameMessage(std::string_view body) {
  EncodedMessage message;
  message.size = body.size();
  message.head.reset(new char[kMessagePrefixSize + body.size()]);
  if (!body.empty()) std::memcpy(message.head.get() + kMessagePrefixSize, body.data(), body.size());
  message.pieces.emplace_back(message.head.get(), kMessagePrefixSize + body.size());
  WritePrefix(&message, /*compressed=*/false);
  return message;
}

void Call::CompressResponses(const RequestHead& head) {
  compression_level_ = ZlibLevel(context_.options.response_compression);
  if (compression_level_ > 0) response_encoding_ = head.accepted;
  if (response_encoding_ != Encoding::kIdentity) compressors_ = context_.detours;
}

void Call::FinishMessage(EncodedMessage* message) const {
  WritePrefix(message, /*compressed=*/false);
  if (response_encoding_ == Encoding::kIdentity) return;
  if (!base::ThreadMayBlock() && message->size > kCompressedOnLoop) return;
  std::vector<std::string_view> pieces = message->pieces;
  pieces.front().remove_prefix(kMessagePrefixSize);
  std::string compressed;
  if (!Compress(pieces, response_encoding_, compression_level_, &compressed).ok()) return;
  if (compressed.size() >= message->size) return;
  *message = FrameMessage(compressed);
  WritePrefix(message, /*compressed=*/true);
}

void Call::FinishAndDeliver(Delivery delivery) {
  const bool elsewhere = delivery.message.has_value() && compressors_ != nullptr &&
                         delivery.message->size > kCompressedOnLoop && !base::ThreadMayBlock();
  if (elsewhere) {
    // std::function wants something copyable.
    auto held = std::make_shared<Delivery>(std::move(delivery));
    const bool accepted = compressors_->Run([self = shared_from_this(), held] {
      self->FinishMessage(&*held->message);
      self->Deliver(std::move(*held));
    });
    if (accepted) return;
    delivery = std::move(*held);
  }
  if (delivery.message.has_value()) FinishMessage(&*delivery.message);
  Deliver(std::move(delivery));
}

Call::Call(const CallOrigin& origin)
    : context_(origin.context),
      loop_(origin.loop),
      host_(&origin.host),
      inbox_(origin.loop.inbox()),
      stream_(origin.stream),
      request_encoding_(origin.head.encoding.value_or(Encoding::kIdentity)),
      reader_(origin.context.options.max_message_size, request_encoding_,
              origin.context.options.receive_budget) {
  if (origin.head.timeout_ns.has_value()) {
    deadline_ns_ = api::DeadlineAfter(loop_.NowNs(), *origin.head.timeout_ns);
  }
}

Call::~Call() = default;

void Call::Begin() {
  if (deadline_ns_ != 0) loop_.AddDeadline(deadline_ns_, this);
}

void Call::ReceiveData(std::string_view data) {
  silent_ticks_ = 0;
  if (finished()) return;
  try {
    if (!away_ && held_ == nullptr) Feed(&data);
    if (!data.empty()) Hold(data);
    const size_t held = held_ == nullptr ? 0 : held_->bytes.size();
    if (!finished() && !CountIncomplete(reader_.filled() + held)) End(OverBudget());
  } catch (const std::bad_alloc&) {
    End(OutOfMemory());
  }
}

bool Call::CountIncomplete(size_t now) {
  return host_->CountIncomplete(std::exchange(incomplete_, now), now);
}

void Call::Feed(std::string_view* data) {
  while (!data->empty() && !finished() && !away_) {
    switch (reader_.Read(data)) {
      case MessageReader::Event::kNeedMore:
        break;
      case MessageReader::Event::kMessage:
        OnMessage(reader_.TakeMessage());
        break;
      case MessageReader::Event::kPacked:
        TakePacked(reader_.TakeMessage());
        break;
      case MessageReader::Event::kError:
        End(reader_.error());
        break;
    }
  }
  if (finished()) *data = {};
}

void Call::ReceiveEnd() {
  if (finished()) return;
  if (away_ || held_ != nullptr) {
    held().end = true;
    return;
  }
  received_end_ = true;
  try {
    if (reader_.InMessage()) {
      End({kGrpcInternal, "the call ended in the middle of a message"});
    } else {
      OnHalfClose();
    }
  } catch (const std::bad_alloc&) {
    End(OutOfMemory());
  }
}

void Call::TakePacked(StoredBytes packed) {
  const uint64_t limit =
      codec::compression::InflationLimit(packed.bytes.size(), context_.options.max_message_size);
  const std::shared_ptr<base::ByteBudget>& budget = context_.options.receive_budget;
  if (packed.bytes.size() <= kPackedOnLoop) {
    auto plain = Decompress(packed.bytes, request_encoding_,
                            std::min<uint64_t>(limit, kInflatedOnLoop), budget);
    const CallStatus* const failure = std::get_if<CallStatus>(&plain);
    const bool is_small =
        failure == nullptr || failure->code != kGrpcResourceExhausted || limit <= kInflatedOnLoop;
    if (is_small) return TakeInflated(std::move(plain));
  }
  auto held = std::make_shared<StoredBytes>(std::move(packed));
  Detour([this, held, budget, limit, encoding = request_encoding_]() -> Return {
    auto plain = std::make_shared<std::variant<StoredBytes, CallStatus>>(
        Decompress(held->bytes, encoding, limit, budget));
    *held = {};
    return [this, plain] { TakeInflated(std::move(*plain)); };
  });
}

void Call::TakeInflated(std::variant<StoredBytes, CallStatus> plain) {
  if (CallStatus* const failure = std::get_if<CallStatus>(&plain)) return End(std::move(*failure));
  OnMessage(std::move(std::get<StoredBytes>(plain)));
}

void Call::Detour(std::function<Return()> work) {
  away_ = true;
  // The work knows the call by `this`, which lives as long as the task and the delivery.
  const bool accepted =
      context_.detours->Run([this, self = shared_from_this(), work = std::move(work)] {
        if (is_gone_.load(std::memory_order_relaxed)) return;
        Delivery delivery;
        try {
          delivery.back = work();
        } catch (const std::exception&) {
          delivery.back = [this] { End(OutOfMemory()); };
        }
        Deliver(std::move(delivery));
      });
  if (accepted) return;
  away_ = false;
  End({kGrpcResourceExhausted, "too many large messages wait to be taken in: try again later"});
}

void Call::Arrive(Delivery delivery) {
  if (delivery.back == nullptr) return OnDelivery(std::move(delivery));
  away_ = false;
  if (finished() || EndIfTooLate()) {
    held_.reset();
    return;
  }
  delivery.back();
  if (!away_ && !finished()) TakeHeld();
}

Call::Held& Call::held() {
  if (held_ == nullptr) held_ = std::make_unique<Held>(context_.options.receive_budget);
  return *held_;
}

void Call::Abandon() noexcept {
  Guarded("a call", false, [this] {
    if (host_ != nullptr) host_->ResetStream(*this, NGHTTP2_INTERNAL_ERROR);
    return true;
  });
}

void Call::Hold(std::string_view data) {
  switch (held().bytes.Append(data)) {
    case memory::ReceiveBuffer::Outcome::kDone:
      return;
    case memory::ReceiveBuffer::Outcome::kOverBudget:
      return End(OverBudget());
    case memory::ReceiveBuffer::Outcome::kNoMemory:
      return End(OutOfMemory());
  }
}

void Call::TakeHeld() {
  uint64_t begin_ns = 0;
  while (held_ != nullptr && held_->done < held_->bytes.size()) {
    const std::string_view rest = held_->bytes.view().substr(held_->done);
    const std::string_view slice = rest.substr(0, std::max(kHeldSlice, missing()));
    std::string_view unread = slice;
    Feed(&unread);
    if (finished()) return;
    held_->done += slice.size() - unread.size();
    if (away_) return;
    const uint64_t now_ns = loop_.NowNs();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns < kHeldTurnNs || held_->done == held_->bytes.size()) continue;
    // Others have their turn first.
    away_ = true;
    Delivery later;
    later.call = shared_from_this();
    later.back = [] {};
    inbox_->Put(std::move(later));
    return;
  }
  const bool at_end = held_ != nullptr && held_->end;
  held_.reset();
  host_->WantsMore(*this);
  if (at_end) return ReceiveEnd();
  if (context_.stopping.load(std::memory_order_acquire)) EndIfIdle();
}

void Call::Tick() {
  if (host_ == nullptr) return;
  const bool owes_bytes = !finished() && !received_end_ && !WantsLess() && AwaitsBytes();
  const bool owes_reading = outcome_.has_value() && unsent_ > 0;
  if (!owes_bytes && !owes_reading) {
    silent_ticks_ = 0;
    return;
  }
  if (++silent_ticks_ <= kMostSilentTicks) return;
  silent_ticks_ = 0;
  if (owes_reading) {
    host_->ResetStream(*this, NGHTTP2_CANCEL);
    return;
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(context_.options.stall_timeout).count();
  End({kGrpcDeadlineExceeded,
       "no more of the request came for " + std::to_string(seconds) + " seconds"});
}

void Call::End(CallStatus status) {
  Cancel();
  Finish(std::move(status));
}

void Call::EndIfIdle() {
  if (finished() || away_ || held_ != nullptr || !IsIdle()) return;
  Cancel();
  Finish({kGrpcUnavailable, "Server is stopping"});
}

void Call::OnDeadline() {
  deadline_ns_ = 0;
  if (finished()) return;
  Cancel();
  if (unsent_ > 0) {
    // The peer's window may never let the rest out.
    host_->ResetStream(*this, NGHTTP2_CANCEL);
    outcome_ = CallStatus{kGrpcDeadlineExceeded, ""};
    return;
  }
  Finish({kGrpcDeadlineExceeded, "Deadline Exceeded"});
}

bool Call::EndIfTooLate() {
  if (deadline_ns_ == 0 || finished() || loop_.NowNs() < deadline_ns_) return false;
  loop_.RemoveDeadline(deadline_ns_, this);
  OnDeadline();
  return true;
}

void Call::Cancel() {
  if (!finished()) OnCancelled();
}

void Call::Detach() {
  Cancel();
  if (host_ != nullptr) CountIncomplete(0);
  if (deadline_ns_ != 0) loop_.RemoveDeadline(deadline_ns_, this);
  deadline_ns_ = 0;
  host_ = nullptr;
  is_gone_.store(true, std::memory_order_relaxed);
  DropUnsent();
}

void Call::DropUnsent() {
  outbox_.clear();
  outbox_front_ = 0;
  unsent_ = 0;
}

void Call::Deliver(Delivery delivery) {
  // Only compared: when the loop is gone nobody runs on it.
  if (LoopServices::Current() == &loop_) {
    Arrive(std::move(delivery));
    return;
  }
  delivery.call = shared_from_this();
  Guarded("a response", false, [&] {
    inbox_->Put(std::move(delivery));
    return true;
  });
}

void Call::SendMessage(EncodedMessage message, base::ByteShare waiting) {
  if (finished()) return;
  for (std::string_view piece : message.pieces) unsent_ += piece.size();
  outbox_.push_back({std::make_shared<EncodedMessage>(std::move(message)), std::move(waiting)});
  host_->CallChanged(*this);
}

void Call::SendSmallAnswer(EncodedMessage message) {
  base::ByteShare waiting;
  if (!context_.small_answers->Take(message.size + 1, /*may_wait=*/false, &waiting)) {
    return End({kGrpcResourceExhausted,
                "clients have left too many answers unread: read the answers, or try again later"});
  }
  SendMessage(std::move(message), std::move(waiting));
}

void Call::Finish(CallStatus status) {
  if (finished()) return;
  outcome_ = std::move(status);
  host_->CallChanged(*this);
}

void Call::MoveUnsent(size_t size, WriteQueue* queue) {
  silent_ticks_ = 0;
  size = std::min(size, unsent_);
  unsent_ -= size;
  while (size > 0) {
    Unsent& front = outbox_[outbox_front_];
    const std::string_view piece = front.message->pieces[front.piece].substr(front.offset);
    const size_t taken = std::min(size, piece.size());
    if (taken <= kCopiedPiece) {
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
      front.waiting = {};
      ++outbox_front_;
    }
  }
  if (outbox_front_ == outbox_.size()) DropUnsent();
}

void UnaryCall::OnMessage(StoredBytes message) {
  if (request_.has_value()) {
    Finish({kGrpcInternal, "the call carries more than one request message"});
    return;
  }
  request_ = std::move(message);
}

void UnaryCall::OnHalfClose() {
  if (!request_.has_value()) {
    Finish({kGrpcInternal, "the call ended without a request message"});
    return;
  }
  StoredBytes request = std::move(*request_);
  is_complete_ = true;
  OnRequest(std::move(request));
}

void UnaryCall::OnDelivery(Delivery delivery) {
  if (EndIfTooLate()) return;
  if (delivery.message.has_value()) SendMessage(std::move(*delivery.message));
  Finish(delivery.status.value_or(CallStatus{}));
}

}  // namespace nereid::frontend::grpc
