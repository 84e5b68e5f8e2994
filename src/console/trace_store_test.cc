// SPDX-License-Identifier: Apache-2.0
#include "console/trace_store.h"

#include <gtest/gtest.h>

namespace nereid::console {
namespace {

tracing::Span MakeSpan(uint8_t trace, const std::string& name, bool is_whole = false) {
  tracing::Span span;
  span.context.trace_id[15] = trace;
  span.name = name;
  span.parent_is_remote = is_whole;
  return span;
}

std::string Id(uint8_t trace) {
  return std::string(30, '0') + "0123456789abcdef"[trace / 16] + "0123456789abcdef"[trace % 16];
}

TEST(TraceStore, CollectsTheSpansOfATrace) {
  TraceStore store;
  store.Add(MakeSpan(1, "queue"));
  store.Add(MakeSpan(2, "queue"));
  store.Add(MakeSpan(1, "compute"));
  EXPECT_FALSE(store.Find(Id(1)).is_complete);
  store.Add(MakeSpan(1, "InferRequest", true));
  const TraceStore::Trace trace = store.Find(Id(1));
  EXPECT_TRUE(trace.is_complete);
  ASSERT_EQ(trace.spans.size(), 3U);
  EXPECT_EQ(trace.spans[2].name, "InferRequest");
  EXPECT_EQ(store.Find(Id(3)).id, "");
  const auto list = store.List();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, Id(2));
  EXPECT_EQ(list[1].spans.size(), 2U);
}

TEST(TraceStore, IsBounded) {
  TraceStore store;
  for (uint8_t trace = 0; trace < TraceStore::kMaxTraces + 3; ++trace) {
    store.Add(MakeSpan(trace, "InferRequest", true));
  }
  EXPECT_EQ(store.List().size(), TraceStore::kMaxTraces);
  EXPECT_EQ(store.Find(Id(2)).id, "");

  for (size_t i = 0; i < TraceStore::kMaxSpans + 4; ++i) store.Add(MakeSpan(200, "step"));
  store.Add(MakeSpan(200, "InferRequest", true));
  const TraceStore::Trace trace = store.Find(Id(200));
  EXPECT_EQ(trace.spans.size(), TraceStore::kMaxSpans + 1);
  EXPECT_EQ(trace.dropped, 4U);

  tracing::Span span = MakeSpan(201, "long");
  span.events.resize(100);
  store.Add(span);
  EXPECT_EQ(store.Find(Id(201)).spans[0].events.size(), TraceStore::kMaxEvents);
  EXPECT_EQ(store.Find(Id(201)).spans[0].dropped_events, 68U);
}

}  // namespace
}  // namespace nereid::console
