// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_body.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "frontend/http/content_encoding.h"
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

BodyLimit LimitJsonBody(const RequestHead& head, uint64_t max_input_size) {
  const auto encoding = EncodingFromName(head.content_encoding);
  if (!encoding.ok() || *encoding == Encoding::kIdentity) return {max_input_size, true};
  // What cannot be compressed becomes a little longer. The inflated body has the exact limit.
  const uint64_t margin = max_input_size / 64 + 1024;
  return {max_input_size + std::min(margin, UINT64_MAX - max_input_size), true};
}

BodyLimit LimitInferBody(const RequestHead& head, uint64_t max_input_size) {
  const BodyLimit input = LimitJsonBody(head, max_input_size);
  if (!head.inference_header_length || input.size != max_input_size) return input;
  // Without a JSON part the body is one raw input, which has the same limit. Otherwise the binary
  // tensors have none.
  const auto json = base::ParseWhole<uint64_t>(*head.inference_header_length);
  return json && *json != 0 && *json <= max_input_size ? BodyLimit{} : input;
}

Refusal RefusalOfLongBody(const RequestHead& head, const BodyLimit& limit,
                          std::optional<uint64_t> size) {
  const std::string max = std::to_string(limit.size);
  const std::string found = size ? " of " + std::to_string(*size) + " bytes" : "";
  if (!limit.is_input_size) {
    return {413, "the request's body" + found + " exceeds the maximum of " + max + " bytes"};
  }
  const auto json = head.inference_header_length
                        ? base::ParseWhole<uint64_t>(*head.inference_header_length)
                        : std::nullopt;
  const std::string advice = " bytes. Use --http-max-input-size to increase the limit.";
  if (json && *json == 0) {
    return {400, "Raw input has a byte_size" +
                     (size ? " (" + std::to_string(*size) + " bytes)" : std::string()) +
                     " that exceeds the maximum allowed value of " + max + advice};
  }
  return {400, "request JSON size" + found + " exceeds the maximum allowed input size of " + max +
                   advice};
}

Refusal RefusalOfLongHead(uint32_t max) {
  return {431, "the request's head is larger than " + std::to_string(max) + " bytes"};
}

}  // namespace nereid::frontend::http
