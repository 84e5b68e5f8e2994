// SPDX-License-Identifier: Apache-2.0
// What the bodies of requests have in common in HTTP/1 and HTTP/2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frontend/http/refusal.h"
#include "frontend/http/request_head.h"

namespace nereid::frontend::http {

/// The body of which no more than this comes is received before it is known whether its request is
/// refused.
inline constexpr uint64_t kSmallBody = uint64_t{64} << 10;

/// The bytes of a body that count as progress. A client that sends one byte now and then makes
/// none, so it cannot hold the memory of a large body.
inline constexpr size_t kMinProgress = size_t{16} << 10;

/// Returns where the body begins in its buffer, so that the first byte behind the JSON part is
/// aligned. A wrong Inference-Header-Content-Length only costs the alignment: the endpoint reports
/// it. For a body of unknown size, `body_size` is the largest possible one.
size_t BodyOffset(const RequestHead& head, uint64_t body_size);

/// Returns the size of the JSON part of a body that may be received apart from the binary tensors;
/// 0 if the body must be one piece: it is small or compressed, or has much JSON or no tensors.
size_t JsonReceivedApart(const RequestHead& head, uint64_t body_size);

/// The largest body that a request may have.
struct BodyLimit {
  uint64_t size = UINT64_MAX;
  bool is_input_size = false;  // it is --http-max-input-size, whose texts are Triton's
};

inline BodyLimit Smaller(const BodyLimit& a, const BodyLimit& b) { return b.size < a.size ? b : a; }

/// Returns the largest body of an inference request with this head; `max_input_size` is
/// --http-max-input-size.
BodyLimit LimitInferBody(const RequestHead& head, uint64_t max_input_size);
/// Returns the largest body that is nothing but JSON.
BodyLimit LimitJsonBody(const RequestHead& head, uint64_t max_input_size);

/// Returns the refusal of a body that passes its limit. `size`: the announced size, if it is known.
Refusal RefusalOfLongBody(const RequestHead& head, const BodyLimit& limit,
                          std::optional<uint64_t> size);
/// Returns the refusal of a head with more than `max` bytes.
Refusal RefusalOfLongHead(uint32_t max);

}  // namespace nereid::frontend::http
