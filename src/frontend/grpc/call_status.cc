// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call_status.h"

#include <charconv>

#include "api/status_map.h"

namespace nereid::frontend::grpc {
namespace {

// Clients bound the metadata that they accept (8 KiB is the usual soft bound).
constexpr size_t kMaxEncodedMessage = 6000;

}  // namespace

CallStatus CallStatus::From(const base::Status& status) {
  return {api::GrpcStatus(status.code()), status.message()};
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (encoded.size() >= kMaxEncodedMessage) break;
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

std::optional<uint64_t> ParseTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  uint64_t unit = 0;
  switch (text.back()) {
    case 'H':
      unit = 3'600'000'000'000;
      break;
    case 'M':
      unit = 60'000'000'000;
      break;
    case 'S':
      unit = 1'000'000'000;
      break;
    case 'm':
      unit = 1'000'000;
      break;
    case 'u':
      unit = 1'000;
      break;
    case 'n':
      unit = 1;
      break;
    default:
      return std::nullopt;
  }
  text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // 10^8 hours are more nanoseconds than fit: such a wait never ends.
  uint64_t ns = 0;
  if (__builtin_mul_overflow(value, unit, &ns)) return UINT64_MAX;
  return ns;
}

}  // namespace nereid::frontend::grpc
