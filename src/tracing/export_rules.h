// SPDX-License-Identifier: Apache-2.0
// What the exporter of spans decides, without time or network: the rules of OTLP over HTTP
// (opentelemetry.io/docs/specs/otlp, section "OTLP/HTTP Response").
#pragma once

#include <cstdint>
#include <string>

#include "tracing/span_transport.h"

namespace nereid::tracing {

/// What became of a batch.
struct SendOutcome {
  enum class Kind {
    kDelivered,
    kRetry,    // no answer, or one that asks for patience
    kRefused,  // the receiver will never take this batch
  };
  Kind kind = Kind::kRetry;
  uint64_t rejected_spans = 0;  // of a delivered batch
  std::string reason;           // why not all spans were taken; "" if they were
};

SendOutcome OutcomeOf(const TransportReply& reply);

/// Returns how long to wait before a batch is sent again. `failures` is the number of attempts so
/// far; `asked_secs` is the receiver's Retry-After, 0 if it sent none; `random` is any number. The
/// wait doubles from half a second to 30 seconds, less up to a half so that servers do not return
/// to a receiver all at once. Retry-After is followed up to five minutes.
uint64_t RetryDelayNs(uint32_t failures, uint64_t asked_secs, uint64_t random);

}  // namespace nereid::tracing
