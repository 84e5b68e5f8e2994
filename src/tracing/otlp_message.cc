// SPDX-License-Identifier: Apache-2.0
#include "tracing/otlp_message.h"

#include <algorithm>

#include "otlp_trace.pb.h"

namespace nereid::tracing {
namespace {

// The name under which Triton's spans are made; dashboards select by it.
constexpr char kScopeName[] = "triton-server";

// Bits 8 and 9 of a span's flags: whether the parent is remote, and whether that is known.
constexpr uint32_t kRemoteIsKnown = 0x100;
constexpr uint32_t kIsRemote = 0x200;

template <size_t kSize>
std::string Bytes(const std::array<uint8_t, kSize>& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

void Fill(const Span& span, otlp::Span* message) {
  message->set_trace_id(Bytes(span.context.trace_id));
  message->set_span_id(Bytes(span.context.span_id));
  message->set_trace_state(span.context.state);
  if (span.parent != SpanId{}) message->set_parent_span_id(Bytes(span.parent));
  message->set_name(span.name);
  message->set_kind(otlp::Span::SPAN_KIND_SERVER);  // of every span, as Triton sends them
  message->set_start_time_unix_nano(span.start_ns);
  message->set_end_time_unix_nano(span.end_ns);
  for (const Span::Attribute& attribute : span.attributes) {
    otlp::KeyValue* pair = message->add_attributes();
    pair->set_key(std::string(attribute.key));
    if (const auto* text = std::get_if<std::string>(&attribute.value)) {
      pair->mutable_value()->set_string_value(*text);
    } else {
      pair->mutable_value()->set_int_value(std::get<int64_t>(attribute.value));
    }
  }
  for (const SpanEvent& event : span.events) {
    otlp::Span::Event* added = message->add_events();
    added->set_time_unix_nano(event.time_ns);
    added->set_name(event.name);
  }
  message->set_dropped_events_count(span.dropped_events);
  message->set_flags(span.context.flags | kRemoteIsKnown | (span.parent_is_remote ? kIsRemote : 0));
}

}  // namespace

std::string EncodeExportRequest(const Resource& resource, std::span<const Span> spans) {
  otlp::ExportTraceServiceRequest request;
  otlp::ResourceSpans* all = request.add_resource_spans();
  for (const auto& [name, value] : resource) {
    otlp::KeyValue* pair = all->mutable_resource()->add_attributes();
    pair->set_key(name);
    pair->mutable_value()->set_string_value(value);
  }
  otlp::ScopeSpans* scope = all->add_scope_spans();
  scope->mutable_scope()->set_name(kScopeName);
  for (const Span& span : spans) Fill(span, scope->add_spans());
  return request.SerializeAsString();
}

std::optional<PartialSuccess> DecodeExportResponse(std::string_view bytes) {
  otlp::ExportTraceServiceResponse response;
  if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  PartialSuccess result;
  const int64_t rejected = response.partial_success().rejected_spans();
  result.rejected_spans = static_cast<uint64_t>(std::max<int64_t>(rejected, 0));
  result.message = response.partial_success().error_message();
  return result;
}

}  // namespace nereid::tracing
