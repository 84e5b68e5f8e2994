// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_body.h"

#include <charconv>
#include <string>

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

Refusal RefusalOfLongBody(uint64_t size, uint64_t max) {
  return {413, "the request's body of " + std::to_string(size) + " bytes exceeds the maximum of " +
                   std::to_string(max) + " bytes"};
}

Refusal RefusalOfLongHead(uint32_t max) {
  return {431, "the request's head is larger than " + std::to_string(max) + " bytes"};
}

}  // namespace nereid::frontend::http
