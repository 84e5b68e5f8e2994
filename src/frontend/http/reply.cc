// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply.h"

#include "api/status_map.h"
#include "codec/json/error.h"

namespace nereid::frontend::http {

size_t Reply::body_size() const {
  size_t size = text.size();
  for (const tensor::ByteSpan& piece : tail) size += piece.size;
  return size;
}

void Reply::Clear() {
  constexpr size_t kKeptBytes = size_t{64} << 10;
  status = 200;
  content_type = {};
  extra_fields.clear();
  text.ClearAndShrink(kKeptBytes);
  tail.clear();
  owner.reset();
}

void Reply::SetError(int new_status, std::string_view type, std::string_view message) {
  Clear();
  status = new_status;
  content_type = type;
  codec::json::AppendError(message, &text);
}

void Reply::SetDocument(const base::Result<std::string>& document) {
  if (!document.ok()) {
    const base::Status& status = document.status();
    return SetError(api::HttpStatus(status.code()), kJsonType, status.message());
  }
  content_type = kJsonType;
  text << *document;
}

void Reply::SetTooLate() { SetError(504, "text/plain", "the deadline of the request has passed"); }

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Not Allowed";  // not RFC 9110's "Method Not Allowed": Triton's library sends this
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

}  // namespace nereid::frontend::http
