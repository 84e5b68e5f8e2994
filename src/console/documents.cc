// SPDX-License-Identifier: Apache-2.0
#include "console/documents.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <variant>

#include "base/hex_text.h"
#include "base/json_writer.h"
#include "codec/json/model_statistics.h"
#include "schedule/batch.h"

namespace nereid::console {
namespace {

using base::JsonWriter;

void WriteText(std::string_view key, std::string_view text, JsonWriter* json) {
  json->Key(key).String(text);
}

/// Writes a number with at most three digits behind the point; JSON has no infinity.
void WriteNumber(double value, JsonWriter* json) {
  if (!std::isfinite(value)) value = 0;
  value = std::round(value * 1000) / 1000;
  char text[64];
  const auto written = std::to_chars(text, text + sizeof(text), value);
  json->Raw(written.ec == std::errc() ? std::string_view(text, written.ptr) : "0");
}

struct PointField {
  std::string_view name;
  float Point::*member;
};
constexpr PointField kPointFields[] = {
    {"requests", &Point::requests},     {"failures", &Point::failures},
    {"inferences", &Point::inferences}, {"executions", &Point::executions},
    {"p50_us", &Point::p50_us},         {"p90_us", &Point::p90_us},
    {"p99_us", &Point::p99_us},         {"queue_us", &Point::queue_us},
    {"compute_us", &Point::compute_us}, {"pending", &Point::pending},
};

void WriteFields(JsonWriter* json) {
  json->Key("fields").BeginArray().String("time_ms");
  for (const PointField& field : kPointFields) json->String(field.name);
  json->EndArray();
}

void WritePoint(const Point& point, JsonWriter* json) {
  json->BeginArray().Integer(point.time_ms);
  for (const PointField& field : kPointFields) {
    WriteNumber(static_cast<double>(point.*field.member), json);
  }
  json->EndArray();
}

void WritePoints(std::string_view key, const std::vector<Point>& points, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const Point& point : points) WritePoint(point, json);
  json->EndArray();
}

void WriteSeries(const SeriesStore::Series& series, JsonWriter* json) {
  json->BeginObject();
  WriteText("model", series.model, json);
  WriteText("version", series.version, json);
  json->Key("loaded").Bool(series.is_loaded);
  WritePoints("seconds", series.seconds, json);
  WritePoints("ten_seconds", series.ten_seconds, json);
  json->EndObject();
}

void WriteBatches(const telemetry::ModelStatistics& model, JsonWriter* json) {
  json->Key("batch_sizes").BeginArray();
  for (const telemetry::BatchStatistics& batch : model.batch_stats) {
    json->BeginObject().Key("size").Integer(batch.batch_size);
    json->Key("count").Integer(batch.compute_infer.count);
    json->Key("compute_ns").Integer(batch.compute_infer.ns).EndObject();
  }
  // The statistics list every reason, in the order of the enumeration.
  json->EndArray().Key("closed").BeginArray();
  const size_t reasons = std::min(model.batches_closed.size(), schedule::kBatchReasonCount);
  for (size_t i = 0; i < reasons; ++i) {
    const auto& [label, count] = model.batches_closed[i];
    if (count == 0) continue;
    json->BeginObject().Key("reason").String(label).Key("text");
    json->String(schedule::BatchReasonText(static_cast<schedule::BatchReason>(i)));
    json->Key("count").Integer(count).EndObject();
  }
  json->EndArray();
}

void WriteSequences(const telemetry::ModelStatistics& model, JsonWriter* json) {
  json->Key("sequences");
  if (!model.sequences) {
    json->Null();
    return;
  }
  const telemetry::SequenceStatistics& sequences = *model.sequences;
  json->BeginObject().Key("active").Integer(sequences.active);
  json->Key("backlog").Integer(sequences.backlog).Key("slots").Integer(sequences.slots);
  json->Key("slots_in_use").Integer(sequences.slots_in_use).Key("ended").BeginObject();
  for (const auto& [reason, count] : sequences.ended) json->Key(reason).Integer(count);
  json->EndObject().EndObject();
}

void WriteCores(const telemetry::ModelStatistics& model, const std::vector<CoreShare>& shares,
                JsonWriter* json) {
  json->Key("cores").BeginArray();
  for (const CoreShare& share : shares) {
    if (share.model != model.name || std::to_string(share.version) != model.version) continue;
    json->BeginObject().Key("instances").Integer(share.instances);
    json->Key("threads").Integer(share.threads);
    WriteText("cpus", share.cpus, json);
    WriteText("set_by", share.set_by, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteModelState(const telemetry::ModelStatistics& model, const std::vector<CoreShare>& shares,
                     JsonWriter* json) {
  json->BeginObject();
  WriteText("model", model.name, json);
  WriteText("version", model.version, json);
  json->Key("last_inference_ms").Integer(model.last_inference_ms);
  json->Key("inferences").Integer(model.inference_count);
  json->Key("executions").Integer(model.execution_count);
  json->Key("pending").Integer(model.pending_requests);
  json->Key("times");
  codec::json::WriteInferStatistics(model.inference_stats, json);
  json->Key("failures").BeginObject();
  for (size_t i = 0; i < model.failures_by_reason.size(); ++i) {
    json->Key(telemetry::kFailureReasonNames[i]).Integer(model.failures_by_reason[i]);
  }
  json->EndObject().Key("latency_objective_us").Integer(model.adaptive_batching.objective_us);
  json->Key("batch_size_limit").Integer(model.adaptive_batching.size_limit);
  WriteBatches(model, json);
  WriteSequences(model, json);
  WriteCores(model, shares, json);
  json->Key("memory").BeginArray();
  for (const telemetry::MemoryUsage& memory : model.memory_usage) {
    json->BeginObject();
    WriteText("type", memory.type, json);
    json->Key("id").Integer(memory.id).Key("bytes").Integer(memory.byte_size).EndObject();
  }
  json->EndArray().EndObject();
}

std::string_view LevelName(base::LogLevel level) {
  switch (level) {
    case base::LogLevel::kInfo:
      return "info";
    case base::LogLevel::kWarning:
      return "warning";
    case base::LogLevel::kError:
      return "error";
    case base::LogLevel::kVerbose:
      return "verbose";
  }
  return "info";
}

void WriteLine(const base::TailLine& line, JsonWriter* json) {
  json->BeginObject().Key("number").Integer(line.number).Key("time_ms").Integer(line.time_ms);
  json->Key("level").String(LevelName(line.level));
  WriteText("file", line.file, json);
  json->Key("line").Integer(line.line);
  WriteText("message", line.message, json);
  WriteText("model", line.model, json);
  WriteText("request", line.request_id, json);
  WriteText("trace", line.trace_id, json);
  json->EndObject();
}

uint64_t BeginOf(std::span<const tracing::Span> spans) {
  uint64_t begin = UINT64_MAX;
  for (const tracing::Span& span : spans) begin = std::min(begin, span.start_ns);
  return begin;
}

void WriteMicroseconds(std::string_view key, uint64_t begin_ns, uint64_t end_ns, JsonWriter* json) {
  json->Key(key);
  WriteNumber(end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e3 : 0, json);
}

void WriteSpan(const tracing::Span& span, uint64_t begin_ns, JsonWriter* json) {
  json->BeginObject().Key("id").String(base::HexText(span.context.span_id));
  json->Key("parent").String(span.parent_is_remote ? "" : base::HexText(span.parent));
  WriteText("name", span.name, json);
  WriteMicroseconds("start_us", begin_ns, span.start_ns, json);
  WriteMicroseconds("duration_us", span.start_ns, span.end_ns, json);
  json->Key("attributes").BeginObject();
  for (const tracing::Span::Attribute& attribute : span.attributes) {
    if (const auto* number = std::get_if<int64_t>(&attribute.value)) {
      json->Key(attribute.key).Integer(*number);
    } else {
      WriteText(attribute.key, std::get<std::string>(attribute.value), json);
    }
  }
  json->EndObject().Key("events").BeginArray();
  for (const tracing::SpanEvent& event : span.events) {
    json->BeginObject();
    WriteText("name", event.name, json);
    WriteMicroseconds("at_us", begin_ns, event.time_ns, json);
    json->EndObject();
  }
  json->EndArray().Key("dropped_events").Integer(span.dropped_events).EndObject();
}

}  // namespace

std::string SessionDocument(const Session& session) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("roles").BeginArray();
  for (const api::Role role : {api::Role::kInfer, api::Role::kObserve, api::Role::kManage}) {
    if (session.roles.Has(role)) json.String(api::RoleWords({role}));
  }
  json.EndArray().Key("guarded").Bool(session.is_guarded);
  json.Key("serves_management").Bool(session.serves_management).Key("server").BeginObject();
  WriteText("name", session.server.name, &json);
  WriteText("version", session.server.version, &json);
  json.EndObject().EndObject();
  return text;
}

std::string SeriesDocument(const std::vector<SeriesStore::Series>& series, size_t omitted) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  WriteFields(&json);
  json.Key("omitted").Integer(omitted).Key("series").BeginArray();
  for (const SeriesStore::Series& one : series) WriteSeries(one, &json);
  json.EndArray().EndObject();
  return text;
}

std::string SampleDocument(const std::vector<SeriesStore::Newest>& points, const ProcessUse& use,
                           uint64_t time_ms) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("time_ms").Integer(time_ms).Key("cpus");
  WriteNumber(use.cpus, &json);
  json.Key("memory_bytes").Integer(use.memory_bytes).Key("points").BeginArray();
  for (const SeriesStore::Newest& newest : points) {
    json.BeginObject();
    WriteText("model", newest.model, &json);
    WriteText("version", newest.version, &json);
    json.Key("point");
    WritePoint(newest.point, &json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

std::string ModelStateDocument(const std::vector<telemetry::ModelStatistics>& versions,
                               const std::vector<CoreShare>& shares) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("versions").BeginArray();
  for (const telemetry::ModelStatistics& version : versions) {
    WriteModelState(version, shares, &json);
  }
  json.EndArray().EndObject();
  return text;
}

std::string LogDocument(const std::vector<base::TailLine>& lines, uint64_t last, size_t max_bytes) {
  size_t first = lines.size();
  for (size_t bytes = 0; first > 0; --first) {
    bytes += lines[first - 1].size();
    if (bytes > max_bytes) break;
  }
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("last").Integer(last).Key("lines").BeginArray();
  for (size_t i = first; i < lines.size(); ++i) WriteLine(lines[i], &json);
  json.EndArray().EndObject();
  return text;
}

std::string TracesDocument(const std::vector<TraceStore::Trace>& traces) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("traces").BeginArray();
  for (const TraceStore::Trace& trace : traces) {
    if (trace.spans.empty()) continue;
    json.BeginObject().Key("id").String(trace.id).Key("complete").Bool(trace.is_complete);
    // The innermost of the two spans is that of the model.
    WriteText("name", trace.spans.front().name, &json);
    json.Key("time_ms").Integer(BeginOf(trace.spans) / 1'000'000);
    WriteMicroseconds("duration_us", trace.spans.back().start_ns, trace.spans.back().end_ns, &json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

std::string TraceDocument(const TraceStore::Trace& trace) {
  const uint64_t begin_ns = BeginOf(trace.spans);
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("id").String(trace.id).Key("complete").Bool(trace.is_complete);
  json.Key("time_ms").Integer(begin_ns / 1'000'000).Key("dropped").Integer(trace.dropped);
  json.Key("spans").BeginArray();
  for (const tracing::Span& span : trace.spans) WriteSpan(span, begin_ns, &json);
  json.EndArray().EndObject();
  return text;
}

}  // namespace nereid::console
