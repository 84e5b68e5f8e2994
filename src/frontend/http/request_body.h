// SPDX-License-Identifier: Apache-2.0
// What the bodies of requests have in common in HTTP/1 and HTTP/2.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Returns the refusal of a body that is announced to have more than `max` bytes.
Refusal RefusalOfLongBody(uint64_t size, uint64_t max);
/// Returns the refusal of a head with more than `max` bytes.
Refusal RefusalOfLongHead(uint32_t max);

}  // namespace nereid::frontend::http
