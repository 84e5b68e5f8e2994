// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json/text_buffer.h"
#include "request/inference_response.h"
#include "tensor/bytes.h"

namespace nereid::frontend::http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain";

/// The HTTP response to one request: status and header fields, then a body of `text` and the bytes
/// of `tail`. Reused from request to request, so that its texts keep their memory.
struct Reply {
  int status = 200;
  std::string_view content_type;  // a literal
  std::string extra_fields;       // whole lines, each with its CRLF
  codec::json::TextBuffer text;
  std::vector<tensor::ByteSpan> tail;
  /// Keeps the bytes of `tail` alive until they are written.
  std::unique_ptr<request::InferenceResponse> owner;

  /// Returns the number of bytes of the body.
  size_t body_size() const;
  void Clear();
  /// Makes the body {"error": message}, with a status and a content type.
  void SetError(int new_status, std::string_view type, std::string_view message);
  /// Makes the body a JSON document; or an error, with the status of its code.
  void SetDocument(const base::Result<std::string>& document);
  /// Makes the reply 504: the client's deadline has passed.
  void SetTooLate();
};

/// Returns whether a whole reply has the field Content-Length. In 304 it would be that of the reply
/// with a body (RFC 9110, section 8.6), which the server does not make.
inline bool HasLength(const Reply& reply) { return reply.status != 304; }

/// The literals of a streamed reply, whose body is sent in pieces.
struct StreamForm {
  std::string_view content_type;
  std::string_view late_piece;  // the last piece if the deadline passes after the first piece
  std::string_view probe;       // a piece that clients ignore; sending it shows who is still there
};

/// Returns the reason phrase of a status: "OK", "Not Found", …
std::string_view ReasonPhrase(int status);

}  // namespace nereid::frontend::http
