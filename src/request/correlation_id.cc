// SPDX-License-Identifier: Apache-2.0
#include "request/correlation_id.h"

namespace nereid::request {

std::string CorrelationIdText(const CorrelationId& id) {
  const auto* number = std::get_if<uint64_t>(&id);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(id);
}

base::Status CheckCorrelationId(std::string_view text) {
  if (text.size() <= kMaxCorrelationIdSize) return base::Status::Ok();
  // Triton's text: bytes, though it says characters, and without the request's id.
  return base::Status::Unsupported("string correlation ID cannot be longer than " +
                                   std::to_string(kMaxCorrelationIdSize) + " characters");
}

}  // namespace nereid::request
