// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_body.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "memory/host_buffer.h"

namespace nereid::frontend::http {

size_t BodyOffset(const RequestHead& head, uint64_t body_size) {
  if (!head.inference_header_length) return 0;
  const std::string& text = *head.inference_header_length;
  uint64_t length = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), length);
  if (result.ec != std::errc() || length > body_size) return 0;
  return (memory::HostBuffer::kAlignment - length % memory::HostBuffer::kAlignment) %
         memory::HostBuffer::kAlignment;
}

size_t JsonReceivedApart(const RequestHead& head, uint64_t body_size) {
  constexpr uint64_t kMaxJson = uint64_t{16} << 10;
  if (!head.inference_header_length || !head.content_encoding.empty()) return 0;
  const auto length = base::ParseWhole<uint64_t>(*head.inference_header_length);
  if (!length || *length > kMaxJson || body_size < *length + kSmallBody) return 0;
  return *length;
}

Refusal RefusalOfLongBody(uint64_t size, uint64_t max) {
  return {413, "the request's body of " + std::to_string(size) + " bytes exceeds the maximum of " +
                   std::to_string(max) + " bytes"};
}

Refusal RefusalOfLongHead(uint32_t max) {
  return {431, "the request's head is larger than " + std::to_string(max) + " bytes"};
}

}  // namespace nereid::frontend::http
