// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tracing/trace_context.h"

namespace nereid::tracing {

/// Returns 64 random bits. Each thread has a generator of its own, whose seed comes from the
/// kernel. Good enough for ids that must not collide; not for secrets.
uint64_t RandomBits();

/// Returns a new id, never all zeros.
TraceId NewTraceId();
SpanId NewSpanId();

}  // namespace nereid::tracing
