// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call_status.h"

#include "api/status_map.h"
#include "base/utf8.h"

namespace nereid::frontend::grpc {
namespace {

// Clients bound the metadata that they accept (8 KiB is the usual soft bound).
constexpr size_t kMaxEncodedMessage = 6000;

}  // namespace

CallStatus CallStatus::From(const base::Status& status) {
  return {api::GrpcStatus(status.code()), status.message()};
}

CallStatus CallStatus::From(const api::AccessRefusal& refusal) {
  return {api::GrpcStatus(refusal.kind), refusal.text};
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  // Each byte becomes at least one, so that a character which this cuts is beyond the limit.
  text = text.substr(0, kMaxEncodedMessage + 3);
  for (const char c : base::ReplaceInvalidUtf8(text)) {
    const uint8_t byte = static_cast<uint8_t>(c);
    // A character is not cut in the middle.
    if (encoded.size() >= kMaxEncodedMessage && (byte & 0xc0) != 0x80) break;
    if (byte >= 0x20 && byte <= 0x7e && c != '%') {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(kHex[byte >> 4]);
      encoded.push_back(kHex[byte & 15]);
    }
  }
  return encoded;
}

}  // namespace nereid::frontend::grpc
