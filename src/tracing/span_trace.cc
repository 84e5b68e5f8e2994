// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_trace.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/hex_text.h"
#include "base/log.h"
#include "base/utf8.h"
#include "tracing/span_ids.h"

namespace nereid::tracing {
namespace {

using request::Trace;
using request::TraceActivity;

// The number of events is OpenTelemetry's own default. A stream may have any number of responses,
// and a client or a backend chooses the texts.
constexpr size_t kMaxEvents = 128;
constexpr size_t kMaxName = 256;
constexpr size_t kMaxValue = 1024;
// Spans that custom activities open inside of each other.
constexpr size_t kMaxDepth = 32;

constexpr std::string_view kStart = "_START";
constexpr std::string_view kEnd = "_END";

/// Returns the beginning of `text` as UTF-8.
std::string Bounded(std::string_view text, size_t max_size) {
  if (text.size() > max_size) {
    text = text.substr(0, max_size);
    // Do not cut a character: drop its bytes that are left.
    while (!text.empty() && (text.back() & 0xC0) == 0x80) text.remove_suffix(1);
    if (!text.empty() && (text.back() & 0x80) != 0) text.remove_suffix(1);
  }
  return base::ReplaceInvalidUtf8(text);
}

}  // namespace

SpanTrace::SpanTrace(Settings settings)
    : sink_(std::move(settings.sink)),
      timestamps_(settings.timestamps),
      offset_ns_(settings.unix_offset_ns),
      clock_(*settings.clock),
      trace_id_(settings.parent ? settings.parent->trace_id : NewTraceId()) {
  Span span;
  if (settings.parent) {
    span.context = std::move(*settings.parent);
    span.parent = std::exchange(span.context.span_id, NewSpanId());
    span.parent_is_remote = true;
  } else {
    span.context.trace_id = trace_id_;
    span.context.span_id = NewSpanId();
  }
  span.context.flags = kSampledFlag;
  span.name = "InferRequest";
  span.start_ns = Unix(clock_.NowNs());
  const base::MutexLock lock(mutex_);
  request_span_ = std::move(span);
}

std::string SpanTrace::GlobalTraceId() const { return base::HexText(trace_id_); }

SpanTrace::~SpanTrace() {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    const uint64_t now_ns = clock_.NowNs();
    for (auto& [id, progress] : traces_) EndDownTo(0, progress, now_ns);
    Finish(std::move(request_span_), now_ns);
  });
}

// Runs `change` with the lock held. If memory runs out, the trace lacks what it records: the
// callers are plug-ins and front ends, which could not handle an exception.
template <typename Change>
void SpanTrace::Locked(Change&& change) noexcept {
  try {
    const base::MutexLock lock(mutex_);
    change();
  } catch (const std::exception& failure) {
    LOG_ERROR << "a part of a trace is lost: " << failure.what();
  }
}

Span SpanTrace::NewSpan(std::string_view name, const SpanId& parent, uint64_t time_ns) const {
  Span span;
  span.context = request_span_.context;
  span.context.span_id = NewSpanId();
  span.parent = parent;
  span.name = Bounded(name, kMaxName);
  span.start_ns = Unix(time_ns);
  return span;
}

// The request of a step or of a backend is inside of what its parent does then. A parent that has
// ended, or is unknown, is possible: a decoupled model may make requests after it gave its own
// back.
SpanId SpanTrace::ParentOf(const Trace& trace) const {
  const auto found = traces_.find(trace.parent_id());
  if (found == traces_.end()) return request_span_.context.span_id;
  const Progress& parent = found->second;
  if (!parent.open.empty()) return parent.open.back().span.context.span_id;
  return parent.model == SpanId{} ? request_span_.context.span_id : parent.model;
}

void SpanTrace::OpenModel(Trace& trace, Progress& progress, uint64_t time_ns) {
  if (!progress.open.empty()) return;  // a request that is scheduled again
  Span span = NewSpan(trace.model_name(), ParentOf(trace), time_ns);
  span.attributes.push_back({"triton.model_name", span.name});
  span.attributes.push_back({"triton.model_version", trace.model_version()});
  span.attributes.push_back({"triton.trace_id", static_cast<int64_t>(trace.id())});
  span.attributes.push_back({"triton.trace_parent_id", static_cast<int64_t>(trace.parent_id())});
  if (!trace.request_id().empty()) {
    span.attributes.push_back({"triton.request_id", Bounded(trace.request_id(), kMaxValue)});
  }
  trace.SetContext(TraceContextJson(span.context));
  progress.model = span.context.span_id;
  progress.open.push_back({Kind::kModel, std::move(span)});
}

void SpanTrace::OpenInside(Kind kind, std::string_view name, Progress& progress, uint64_t time_ns) {
  if (progress.open.empty() || progress.open.size() >= kMaxDepth) return;
  const SpanId parent = progress.open.back().span.context.span_id;
  progress.open.push_back({kind, NewSpan(name, parent, time_ns)});
}

void SpanTrace::EndQueue(Progress& progress, uint64_t time_ns) {
  if (progress.queue_start_ns == 0 || progress.open.empty()) return;
  const SpanId parent = progress.open.back().span.context.span_id;
  Finish(NewSpan("queue", parent, std::exchange(progress.queue_start_ns, 0)), time_ns);
}

void SpanTrace::End(Kind kind, std::string_view name, Progress& progress, uint64_t time_ns) {
  const auto found =
      std::find_if(progress.open.rbegin(), progress.open.rend(), [&](const Open& open) {
        return open.kind == kind && (kind != Kind::kCustom || open.span.name == name);
      });
  if (found == progress.open.rend()) return;
  EndDownTo(static_cast<size_t>(progress.open.rend() - found) - 1, progress, time_ns);
}

void SpanTrace::EndDownTo(size_t left, Progress& progress, uint64_t time_ns) {
  while (progress.open.size() > left) {
    Span span = std::move(progress.open.back().span);
    progress.open.pop_back();
    Finish(std::move(span), time_ns);
  }
}

void SpanTrace::Finish(Span span, uint64_t time_ns) {
  span.end_ns = std::max(span.start_ns, Unix(time_ns));
  sink_->Add(std::move(span));
}

void SpanTrace::AddEvent(Span& span, std::string_view name, uint64_t time_ns) const {
  if (span.events.size() >= kMaxEvents) {
    ++span.dropped_events;
    return;
  }
  span.events.push_back({Unix(time_ns), Bounded(name, kMaxName)});
}

void SpanTrace::Stamp(std::string_view name, uint64_t time_ns) noexcept {
  if (!timestamps_) return;
  Locked([&]() NEREID_REQUIRES(mutex_) {
    request_span_.start_ns = std::min(request_span_.start_ns, Unix(time_ns));
    AddEvent(request_span_, name, time_ns);
  });
}

void SpanTrace::OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    Progress& progress = traces_[trace.id()];
    if (activity == TraceActivity::kRequestStart) OpenModel(trace, progress, time_ns);
    if (activity == TraceActivity::kQueueStart) progress.queue_start_ns = time_ns;
    if (activity == TraceActivity::kComputeStart) {
      EndQueue(progress, time_ns);
      OpenInside(Kind::kCompute, "compute", progress, time_ns);
    }
    AddEvent(progress, ActivityName(activity), time_ns);
    if (activity == TraceActivity::kComputeEnd) End(Kind::kCompute, {}, progress, time_ns);
    if (activity == TraceActivity::kRequestEnd) End(Kind::kModel, {}, progress, time_ns);
  });
}

void SpanTrace::OnCustomActivity(Trace& trace, std::string_view name, uint64_t time_ns) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    const auto found = traces_.find(trace.id());
    if (found == traces_.end()) return;  // before the request's start
    Progress& progress = found->second;
    if (name.size() > kStart.size() && name.ends_with(kStart)) {
      OpenInside(Kind::kCustom, name.substr(0, name.size() - kStart.size()), progress, time_ns);
    }
    AddEvent(progress, name, time_ns);
    if (name.size() > kEnd.size() && name.ends_with(kEnd)) {
      End(Kind::kCustom, Bounded(name.substr(0, name.size() - kEnd.size()), kMaxName), progress,
          time_ns);
    }
  });
}

void SpanTrace::OnResponse(Trace& trace, uint64_t time_ns) noexcept {
  if (trace.id() == root()) Stamp("INFER_RESPONSE_COMPLETE", time_ns);
}

void SpanTrace::OnReleased(std::unique_ptr<Trace> trace) noexcept {
  Locked([&]() NEREID_REQUIRES(mutex_) {
    const auto found = traces_.find(trace->id());
    if (found == traces_.end()) return;
    // Nothing is open unless the request was refused at its submission.
    EndDownTo(0, found->second, clock_.NowNs());
    traces_.erase(found);
  });
}

}  // namespace nereid::tracing
