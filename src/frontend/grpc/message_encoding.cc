// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/message_encoding.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nereid::frontend::grpc {
namespace {

using codec::compression::Inflated;

CallStatus Malformed() {
  return {kGrpcInternal,
          "the message is not what its compression flag says: the compressed data is malformed"};
}

}  // namespace

Encoding ChooseEncoding(std::string_view accept) {
  Encoding chosen = Encoding::kIdentity;
  while (!accept.empty()) {
    const size_t comma = accept.find(',');
    std::string_view name = accept.substr(0, comma);
    accept.remove_prefix(comma == std::string_view::npos ? accept.size() : comma + 1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    chosen = std::max(chosen, FindEncoding(name).value_or(Encoding::kIdentity));
  }
  return chosen;
}

CallStatus OverBudget() {
  return {kGrpcResourceExhausted,
          "the server holds as many bytes of requests as it may: try again later, or raise "
          "--max-request-memory"};
}

CallStatus OutOfMemory() { return {kGrpcResourceExhausted, "out of memory"}; }

std::variant<StoredBytes, CallStatus> Decompress(std::string_view compressed, Encoding encoding,
                                                 uint64_t limit,
                                                 std::shared_ptr<base::ByteBudget> budget) {
  Inflated plain = codec::compression::Inflate(compressed, encoding, 0, limit, std::move(budget));
  switch (plain.outcome) {
    case Inflated::Outcome::kDone:
      break;
    case Inflated::Outcome::kTooLarge:
      return CallStatus{kGrpcResourceExhausted,
                        "Received message larger than max (" + std::to_string(plain.size) +
                            " vs. " + std::to_string(limit) + ") after decompression"};
    case Inflated::Outcome::kIncomplete:
    case Inflated::Outcome::kDamaged:
      return Malformed();
    case Inflated::Outcome::kNoMemory:
      return OutOfMemory();
    case Inflated::Outcome::kOverBudget:
      return OverBudget();
  }
  StoredBytes result;
  result.storage = std::move(plain.buffer);
  result.bytes = {result.storage.data(), plain.size};
  result.wire_size = plain.size;
  return result;
}

base::Status Compress(std::span<const std::string_view> pieces, Encoding encoding, int level,
                      std::string* out) {
  std::vector<tensor::ByteSpan> spans;
  spans.reserve(pieces.size());
  for (const std::string_view piece : pieces) spans.push_back({piece.data(), piece.size()});
  return codec::compression::Deflate(spans, encoding, level, [out](std::string_view packed) {
    out->append(packed);
    return true;
  });
}

}  // namespace nereid::frontend::grpc
