// SPDX-License-Identifier: Apache-2.0
// The W3C trace context (Recommendation "Trace Context", 23 November 2021): the headers
// `traceparent` and `tracestate` by which a client says to which trace a request belongs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::tracing {

using TraceId = std::array<uint8_t, 16>;
using SpanId = std::array<uint8_t, 8>;

/// The place of a span: its trace and its own id. Valid if neither id is all zeros.
struct SpanContext {
  TraceId trace_id{};
  SpanId span_id{};
  uint8_t flags = 0;  // kSampledFlag and bits that have no meaning yet
  std::string state;  // the text of `tracestate`; passed on as it came
};

inline constexpr uint8_t kSampledFlag = 1;

/// The trace headers of one request, as the client sent them. A front end offers every header.
struct TraceHeaders {
  std::string parent;  // traceparent
  std::string state;   // tracestate

  bool empty() const { return parent.empty() && state.empty(); }
  void Clear() {
    parent.clear();
    state.clear();
  }
  /// Takes the header if it is one of the two; the case of `name` does not matter. A header that is
  /// repeated becomes a list with commas: legal for tracestate, and no valid traceparent.
  void Add(std::string_view name, std::string_view value);
};

/// Returns the client's span, or nothing if traceparent is missing or invalid. A tracestate that is
/// invalid, or longer than 512 characters, is left out.
std::optional<SpanContext> ParseTraceContext(const TraceHeaders& headers);

/// Returns the context as backends read it: a JSON object with the members "traceparent" and, if
/// there is a state, "tracestate".
std::string TraceContextJson(const SpanContext& context);

}  // namespace nereid::tracing
