// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/response_framing.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.h"
#include "frontend/grpc/message_frame.h"

namespace nereid::frontend::grpc {
namespace {

using codec::proto::EncodedMessage;

// zlib needs about a millisecond for this much.
constexpr size_t kMaxCompressedOnLoop = size_t{32} << 10;

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

bool HoldsUpLoop(const EncodedMessage& message) {
  return message.size > kMaxCompressedOnLoop && !base::ThreadMayBlock();
}

}  // namespace

ResponseFraming::ResponseFraming(const ServerContext& context, const RequestHead& head)
    : level_(ZlibLevel(context.options.response_compression)) {
  if (level_ > 0) encoding_ = head.accepted;
  if (encoding_ != Encoding::kIdentity) workers_ = context.detours;
}

void ResponseFraming::Complete(EncodedMessage* message) const {
  WritePrefix(message, /*compressed=*/false);
  if (encoding_ == Encoding::kIdentity || HoldsUpLoop(*message)) return;
  std::vector<std::string_view> pieces = message->pieces;
  pieces.front().remove_prefix(kMessagePrefixSize);
  std::string compressed;
  if (!Compress(pieces, encoding_, level_, &compressed).ok()) return;
  if (compressed.size() >= message->size) return;
  *message = FrameMessage(compressed);
  WritePrefix(message, /*compressed=*/true);
}

base::BlockingWorkers* ResponseFraming::WorkersFor(const EncodedMessage& message) const {
  return workers_ != nullptr && HoldsUpLoop(message) ? workers_.get() : nullptr;
}

}  // namespace nereid::frontend::grpc
