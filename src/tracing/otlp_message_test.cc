// SPDX-License-Identifier: Apache-2.0
#include "tracing/otlp_message.h"

#include <gtest/gtest.h>

#include "otlp_trace.pb.h"

namespace nereid::tracing {
namespace {

Span SmallSpan() {
  Span span;
  span.context.trace_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  span.context.span_id = {1, 2, 3, 4, 5, 6, 7, 8};
  span.context.flags = kSampledFlag;
  span.name = "n";
  span.start_ns = 1;
  span.end_ns = 2;
  return span;
}

TEST(OtlpMessage, HoldsResourceScopeAndSpans) {
  Span child = SmallSpan();
  child.parent = SmallSpan().context.span_id;
  child.parent_is_remote = true;
  child.context.state = "a=1";
  child.attributes = {{"text", std::string("x")}, {"number", int64_t{-7}}};
  child.events = {{5, "e"}};
  child.dropped_events = 4;
  otlp::ExportTraceServiceRequest request;
  ASSERT_TRUE(request.ParseFromString(
      EncodeExportRequest({{"service.name", "s"}}, std::vector<Span>{SmallSpan(), child})));
  ASSERT_EQ(request.resource_spans_size(), 1);
  const otlp::ResourceSpans& all = request.resource_spans(0);
  EXPECT_EQ(all.resource().attributes(0).key(), "service.name");
  EXPECT_EQ(all.resource().attributes(0).value().string_value(), "s");
  ASSERT_EQ(all.scope_spans_size(), 1);
  EXPECT_EQ(all.scope_spans(0).scope().name(), "triton-server");
  ASSERT_EQ(all.scope_spans(0).spans_size(), 2);
  EXPECT_EQ(all.scope_spans(0).spans(0).parent_span_id(), "");
  EXPECT_EQ(all.scope_spans(0).spans(0).flags(), 0x101u);
  const otlp::Span& second = all.scope_spans(0).spans(1);
  EXPECT_EQ(second.trace_id(), std::string("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20"));
  EXPECT_EQ(second.parent_span_id(), std::string("\1\2\3\4\5\6\7\10"));
  EXPECT_EQ(second.trace_state(), "a=1");
  EXPECT_EQ(second.flags(), 0x301u);
  EXPECT_EQ(second.kind(), otlp::Span::SPAN_KIND_SERVER);
  EXPECT_EQ(second.attributes(0).value().string_value(), "x");
  EXPECT_EQ(second.attributes(1).value().int_value(), -7);
  EXPECT_EQ(second.events(0).name(), "e");
  EXPECT_EQ(second.events(0).time_unix_nano(), 5u);
  EXPECT_EQ(second.dropped_events_count(), 4u);
}

// The bytes follow from the field numbers and types of the OTLP specification.
TEST(OtlpMessage, HasTheSpecificationsBytes) {
  const std::string span = std::string("\x0a\x10") + "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20" +
                           "\x12\x08\1\2\3\4\5\6\7\10" + "\x2a\x01n" + "\x30\x02" +
                           std::string("\x39\1\0\0\0\0\0\0\0", 9) +
                           std::string("\x41\2\0\0\0\0\0\0\0", 9) +
                           std::string("\x85\x01\x01\x01\0\0", 6);
  const auto field = [](char tag, const std::string& body) {
    return std::string{tag, static_cast<char>(body.size())} + body;
  };
  const std::string resource = field(0x0a, field(0x0a, "k") + field(0x12, field(0x0a, "v")));
  const std::string scope = field(0x0a, field(0x0a, "triton-server")) + field(0x12, span);
  EXPECT_EQ(EncodeExportRequest({{"k", "v"}}, std::vector<Span>{SmallSpan()}),
            field(0x0a, field(0x0a, resource) + field(0x12, scope)));
}

TEST(OtlpMessage, ReadsTheAnswer) {
  EXPECT_EQ(DecodeExportResponse("")->rejected_spans, 0u);
  const auto partial = DecodeExportResponse(std::string("\x0a\x05\x08\x02\x12\x01x", 7));
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->rejected_spans, 2u);
  EXPECT_EQ(partial->message, "x");
  EXPECT_FALSE(DecodeExportResponse("{\"partialSuccess\":{}}"));
}

}  // namespace
}  // namespace nereid::tracing
