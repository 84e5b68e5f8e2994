// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tracing/span.h"

namespace nereid::console {

/// The spans of the last requests that were traced through the console. Bounded: the oldest trace
/// is dropped for a new one, and a trace keeps its first kMaxSpans spans. Thread-safe.
class TraceStore final : public tracing::SpanSink {
 public:
  static constexpr size_t kMaxTraces = 32;
  static constexpr size_t kMaxSpans = 512;
  static constexpr size_t kMaxEvents = 32;  // of a span

  struct Trace {
    std::string id = {};  // 32 hexadecimal digits
    /// In the order in which they ended. The span of the whole request is the last one.
    std::vector<tracing::Span> spans = {};
    size_t dropped = 0;        // spans beyond kMaxSpans
    bool is_complete = false;  // the span of the whole request has ended
  };

  // tracing::SpanSink
  void Add(tracing::Span span) noexcept override;

  /// Returns the trace; an empty id if there is none.
  Trace Find(const std::string& id) const;
  /// Returns the traces without their inner spans, from new to old.
  std::vector<Trace> List() const;

 private:
  void AddSpan(tracing::Span span) NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::deque<Trace> traces_ NEREID_GUARDED_BY(mutex_);  // from old to new
};

}  // namespace nereid::console
