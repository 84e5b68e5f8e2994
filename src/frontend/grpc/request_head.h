// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_filter.h"
#include "frontend/grpc/message_encoding.h"
#include "tracing/trace_context.h"

namespace nereid::frontend::grpc {

/// The headers of a call. One object is reused for all calls of a connection.
struct RequestHead {
  std::string path;
  bool is_post = false;
  bool is_grpc = false;                // content-type
  std::optional<uint64_t> timeout_ns;  // grpc-timeout
  bool bad_timeout = false;
  std::optional<Encoding> encoding;  // grpc-encoding; nothing if it is unknown
  std::string unknown_encoding;
  Encoding accepted = Encoding::kIdentity;  // the best of grpc-accept-encoding
  bool stream_errors_end_call = false;      // triton_grpc_error: true
  tracing::TraceHeaders trace;              // traceparent and tracestate
  std::vector<api::HeaderField> fields;     // the metadata that the server's FieldFilter keeps
  bool has_too_many_fields = false;
  size_t size = 0;  // in bytes as HTTP/2 counts: 32 more for each header

  void Clear();
  /// Takes one header. Unknown headers are only counted, unless `kept` (may be null) chooses them.
  /// When the total exceeds `limit`, all further headers are only counted: HPACK lets a client
  /// repeat a large header with one byte.
  void Add(std::string_view name, std::string_view value, size_t limit,
           const api::FieldFilter* kept = nullptr);
};

}  // namespace nereid::frontend::grpc
