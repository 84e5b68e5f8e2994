// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call_status.h"

#include <algorithm>

#include "api/status_map.h"
#include "base/utf8.h"

namespace nereid::frontend::grpc {
namespace {

// Clients bound the metadata that they accept (8 KiB is the usual soft bound).
constexpr size_t kMaxEncodedMessage = 6000;

std::string Encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
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

}  // namespace

CallStatus CallStatus::From(const base::Status& status) {
  return {api::GrpcStatus(status.code()), status.message()};
}

CallStatus CallStatus::From(const api::AccessRefusal& refusal) {
  return {api::GrpcStatus(refusal.kind), refusal.text};
}

std::string PercentEncode(std::string_view text) {
  // Each byte becomes at least one, so a text of more bytes is too long in any case. The number of
  // bytes that fit depends on the characters, so it is found in a few steps.
  size_t room = std::min(text.size(), kMaxEncodedMessage);
  while (true) {
    std::string encoded = Encode(base::ShortenMiddle(text, room));
    if (encoded.size() <= kMaxEncodedMessage) return encoded;
    room = room * kMaxEncodedMessage / encoded.size();
  }
}

}  // namespace nereid::frontend::grpc
