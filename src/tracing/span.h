// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tracing/trace_context.h"

namespace nereid::tracing {

/// A moment in a span.
struct SpanEvent {
  uint64_t time_ns = 0;  // since the Unix epoch
  std::string name;
};

/// A finished span of OpenTelemetry: a piece of work with its begin, its end and its parent. All
/// texts are UTF-8 and bounded.
struct Span {
  struct Attribute {
    std::string_view key;  // a literal
    std::variant<std::string, int64_t> value;
  };

  SpanContext context;
  SpanId parent{};  // all zeros: the span has no parent
  bool parent_is_remote = false;
  std::string name;
  uint64_t start_ns = 0;  // since the Unix epoch
  uint64_t end_ns = 0;
  std::vector<Attribute> attributes;
  std::vector<SpanEvent> events;
  uint32_t dropped_events = 0;  // beyond the maximum number
};

/// Takes finished spans. Thread-safe.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  /// Takes a span, or drops it. Must not wait.
  virtual void Add(Span span) noexcept = 0;
};

}  // namespace nereid::tracing
