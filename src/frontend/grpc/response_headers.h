// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string_view>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/response_metadata.h"

namespace nereid::frontend::grpc {

// The HEADERS frames that the server sends. Each function queues one in nghttp2; a failure for lack
// of memory shows when nghttp2 is asked for bytes next. `metadata` may be null. `replica` is the
// name of this server for api::kReplicaField, or "".

/// Queues the headers of a response whose messages `messages` provides.
void SubmitHeaders(nghttp2_session* session, int32_t stream, Encoding encoding,
                   const nghttp2_data_provider& messages, std::string_view replica,
                   const ResponseMetadata* metadata);

/// Queues the trailers behind the last message, which end the stream.
void SubmitTrailers(nghttp2_session* session, int32_t stream, const CallStatus& status,
                    const ResponseMetadata* metadata);

/// Queues a response without messages, gRPC's "Trailers-Only": headers with the status.
void SubmitStatusOnly(nghttp2_session* session, int32_t stream, const CallStatus& status,
                      std::string_view replica, const ResponseMetadata* metadata = nullptr);

/// Queues a response for a request that is not gRPC: only the HTTP status, such as "405".
void SubmitHttpStatus(nghttp2_session* session, int32_t stream, std::string_view status);

}  // namespace nereid::frontend::grpc
