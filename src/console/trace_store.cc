// SPDX-License-Identifier: Apache-2.0
#include "console/trace_store.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/hex_text.h"

namespace nereid::console {

void TraceStore::Add(tracing::Span span) noexcept {
  try {
    const base::MutexLock lock(mutex_);
    AddSpan(std::move(span));
  } catch (const std::exception&) {
    // No memory: the trace lacks this span.
  }
}

void TraceStore::AddSpan(tracing::Span span) {
  const std::string id = base::HexText(span.context.trace_id);
  // From the newest on: spans mostly belong to requests that have just run.
  auto found = std::find_if(traces_.rbegin(), traces_.rend(),
                            [&](const Trace& trace) { return trace.id == id; });
  if (found == traces_.rend()) {
    if (traces_.size() >= kMaxTraces) traces_.pop_front();
    traces_.push_back({.id = id});
    found = traces_.rbegin();
  }
  if (span.events.size() > kMaxEvents) {
    span.dropped_events += static_cast<uint32_t>(span.events.size() - kMaxEvents);
    span.events.erase(span.events.begin() + kMaxEvents, span.events.end());
  }
  // Only the span of the whole request has a parent outside of the server: the client's.
  const bool is_whole = span.parent_is_remote;
  found->is_complete = found->is_complete || is_whole;
  if (found->spans.size() >= kMaxSpans && !is_whole) {
    ++found->dropped;
    return;
  }
  found->spans.push_back(std::move(span));
}

TraceStore::Trace TraceStore::Find(const std::string& id) const {
  const base::MutexLock lock(mutex_);
  const auto found = std::find_if(traces_.begin(), traces_.end(),
                                  [&](const Trace& trace) { return trace.id == id; });
  return found == traces_.end() ? Trace() : *found;
}

std::vector<TraceStore::Trace> TraceStore::List() const {
  const base::MutexLock lock(mutex_);
  std::vector<Trace> list;
  for (auto trace = traces_.rbegin(); trace != traces_.rend(); ++trace) {
    Trace listed{.id = trace->id};
    listed.dropped = trace->dropped;
    listed.is_complete = trace->is_complete;
    // The whole request and the model that the client has called, which end last.
    const size_t shown = std::min<size_t>(2, trace->spans.size());
    listed.spans.assign(trace->spans.end() - static_cast<std::ptrdiff_t>(shown),
                        trace->spans.end());
    list.push_back(std::move(listed));
  }
  return list;
}

}  // namespace nereid::console
