// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "tracing/request_trace.h"
#include "tracing/span.h"

namespace nereid::tracing {

/// The record of one request as spans of OpenTelemetry. A span goes to the sink when it ends.
///
///   InferRequest            from the first stamp of the front end to the destructor
///     <model>               REQUEST_START to REQUEST_END; attributes triton.*
///       queue               QUEUE_START to COMPUTE_START, for requests that were executed
///       compute             COMPUTE_START to COMPUTE_END
///       <X>                 custom activities X_START to X_END
///       <model> …           a step of an ensemble, or a request that a backend made
///
/// Names, attributes and events are Triton's; `queue` is our own. The activities are events of the
/// innermost span that is open. Each model's trace gets the context of its span in W3C's form
/// (request::Trace::SetContext), so that a backend can continue the trace elsewhere.
class SpanTrace final : public RequestTrace {
 public:
  struct Settings {
    std::shared_ptr<SpanSink> sink = nullptr;
    std::optional<SpanContext> parent = std::nullopt;  // the client's span
    bool timestamps = true;      // false: only the span InferRequest, without events
    int64_t unix_offset_ns = 0;  // from the monotonic clock to the time since the Unix epoch
    const base::Clock* clock = &base::SteadyClock();
  };
  explicit SpanTrace(Settings settings);
  /// Ends all spans that are open.
  ~SpanTrace() override;

  // RequestTrace
  void Stamp(std::string_view name, uint64_t time_ns) noexcept override;

  // TraceListener
  void OnActivity(request::Trace& trace, request::TraceActivity activity,
                  uint64_t time_ns) noexcept override;
  void OnCustomActivity(request::Trace& trace, std::string_view name,
                        uint64_t time_ns) noexcept override;
  void OnTensor(request::Trace& /*trace*/, request::TraceActivity /*activity*/,
                const request::TracedTensor& /*tensor*/) noexcept override {}
  void OnResponse(request::Trace& trace, uint64_t time_ns) noexcept override;
  std::string GlobalTraceId() const override;
  void OnReleased(std::unique_ptr<request::Trace> trace) noexcept override;

 private:
  enum class Kind { kModel, kCompute, kCustom };
  struct Open {
    Kind kind;
    Span span;
  };
  /// What is known about one trace: the request's own, a step's, a backend's request's.
  struct Progress {
    std::vector<Open> open;       // each inside of the one before
    SpanId model{};               // of the model's span, also after its end
    uint64_t queue_start_ns = 0;  // monotonic; 0: does not wait in a queue
  };

  template <typename Change>
  void Locked(Change&& change) noexcept;
  uint64_t Unix(uint64_t time_ns) const { return time_ns + static_cast<uint64_t>(offset_ns_); }
  Span NewSpan(std::string_view name, const SpanId& parent, uint64_t time_ns) const
      NEREID_REQUIRES(mutex_);
  SpanId ParentOf(const request::Trace& trace) const NEREID_REQUIRES(mutex_);
  void OpenModel(request::Trace& trace, Progress& progress, uint64_t time_ns)
      NEREID_REQUIRES(mutex_);
  void OpenInside(Kind kind, std::string_view name, Progress& progress, uint64_t time_ns)
      NEREID_REQUIRES(mutex_);
  void EndQueue(Progress& progress, uint64_t time_ns) NEREID_REQUIRES(mutex_);
  /// Ends the innermost open span of this kind, and name if it is custom, with all inside of it.
  void End(Kind kind, std::string_view name, Progress& progress, uint64_t time_ns);
  /// Ends all but the outer `left` open spans.
  void EndDownTo(size_t left, Progress& progress, uint64_t time_ns);
  void Finish(Span span, uint64_t time_ns);
  void AddEvent(Span& span, std::string_view name, uint64_t time_ns) const;
  void AddEvent(Progress& progress, std::string_view name, uint64_t time_ns) const {
    if (!progress.open.empty()) AddEvent(progress.open.back().span, name, time_ns);
  }

  const std::shared_ptr<SpanSink> sink_;
  const bool timestamps_;
  const int64_t offset_ns_;
  const base::Clock& clock_;
  const TraceId trace_id_;
  base::Mutex mutex_;
  Span request_span_ NEREID_GUARDED_BY(mutex_);                              // "InferRequest"
  std::unordered_map<uint64_t, Progress> traces_ NEREID_GUARDED_BY(mutex_);  // by trace id
};

}  // namespace nereid::tracing
