// SPDX-License-Identifier: Apache-2.0
#include "app/trace_export.h"

#include <algorithm>

#include "abi/process_metrics_registry.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/utf8.h"
#include "curl/url_text.h"
#include "request/trace.h"
#include "tracing/http_transport.h"

namespace nereid::app {
namespace {

using telemetry::MetricKind;

const std::string& UrlOf(const TraceOptions& options) {
  return options.otlp_url.empty() ? options.default_otlp_url : options.otlp_url;
}

/// Returns what Triton shows of the mode's options: those of the command line, and the batches'.
std::vector<std::pair<std::string, std::string>> ShownOptions(const TraceOptions& options) {
  std::vector<std::pair<std::string, std::string>> shown;
  if (!options.otlp_url.empty()) {
    shown.emplace_back("url", curl::UrlWithoutUser(options.otlp_url));
  }
  const Settings defaults = TraceOptions().resource;
  for (const auto& attribute : options.resource) {
    if (std::find(defaults.begin(), defaults.end(), attribute) != defaults.end()) continue;
    shown.emplace_back("resource",
                       base::ReplaceInvalidUtf8(attribute.first + "=" + attribute.second));
  }
  shown.emplace_back("bsp_max_export_batch_size",
                     std::to_string(options.bsp_max_export_batch_size));
  shown.emplace_back("bsp_max_queue_size", std::to_string(options.bsp_max_queue_size));
  shown.emplace_back("bsp_schedule_delay", std::to_string(options.bsp_schedule_delay_ms));
  return shown;
}

/// Returns the attributes of all spans. Those of the command line take precedence.
tracing::Resource ResourceOf(const TraceOptions& options, const std::string& version) {
  tracing::Resource resource;
  const auto add = [&](const std::string& name, const std::string& value) {
    const bool known = std::any_of(resource.begin(), resource.end(),
                                   [&](const auto& present) { return present.first == name; });
    if (known) return;
    resource.emplace_back(base::ReplaceInvalidUtf8(name), base::ReplaceInvalidUtf8(value));
  };
  for (const auto& [name, value] : options.resource) add(name, value);
  for (const auto& [name, value] : options.environment_resource) add(name, value);
  add("telemetry.sdk.language", "cpp");
  add("telemetry.sdk.name", "nereid");
  add("telemetry.sdk.version", version);
  return resource;
}

void WriteMetrics(const tracing::SpanExporter& exporter, telemetry::MetricWriter& writer) {
  const tracing::SpanExporter::Counts counts = exporter.counts();
  writer
      .Family(MetricKind::kCounter, "nereid_trace_spans_delivered_total",
              "Spans that the receiver of OpenTelemetry's traces has taken")
      .Sample({}, counts.delivered);
  auto& dropped = writer.Family(MetricKind::kCounter, "nereid_trace_spans_dropped_total",
                                "Spans that were dropped: the queue was full, or the receiver "
                                "refused them");
  dropped.Sample({{"reason", "queue_full"}}, counts.dropped_queue_full);
  dropped.Sample({{"reason", "refused"}}, counts.dropped_refused);
  writer
      .Family(MetricKind::kCounter, "nereid_trace_export_retries_total",
              "Failed attempts to send a batch of spans that is sent again")
      .Sample({}, counts.retries);
  writer
      .Family(MetricKind::kGauge, "nereid_trace_spans_queued", "Spans that wait for their delivery")
      .Sample({}, counts.queued);
}

}  // namespace

api::TraceSettings TraceSettingsFrom(const TraceOptions& options) {
  api::TraceSettings settings;
  if (options.timestamps) settings.level |= request::kTraceTimestamps;
  if (options.tensors) settings.level |= request::kTraceTensors;
  settings.rate = options.rate;
  settings.count = options.count;
  settings.log_frequency = options.log_frequency;
  settings.file = options.file;
  if (options.mode == TraceMode::kOpenTelemetry) {
    settings.mode = api::TraceMode::kOpenTelemetry;
    settings.options = ShownOptions(options);
    if (options.tensors) {
      LOG_WARNING << "--trace-config: the level TENSORS has no effect in mode opentelemetry";
    }
    return settings;  // with rate 0 the requests of clients that trace are traced
  }
  if (const std::string_view defect = api::TraceDefect(settings); !defect.empty()) {
    LOG_WARNING << "--trace-config: no request is traced: " << defect;
  }
  return settings;
}

void SpanExport::Stop(uint64_t deadline_ns) const {
  if (exporter != nullptr) exporter->Stop(deadline_ns);
}

base::Result<SpanExport> StartSpanExport(const TraceOptions& options, const std::string& version) {
  SpanExport result;
  if (options.mode != TraceMode::kOpenTelemetry) return result;
  tracing::HttpTarget target;
  target.url = UrlOf(options);
  target.headers = options.otlp_headers;
  target.certificate_file = options.otlp_certificate;
  auto transport = tracing::HttpTransport::Create(std::move(target));
  if (!transport.ok()) {
    return transport.status().WithPrefix("--trace-config mode=opentelemetry: ");
  }
  if (options.bsp_max_export_batch_size > options.bsp_max_queue_size) {
    LOG_WARNING << "--trace-config: bsp_max_export_batch_size ("
                << options.bsp_max_export_batch_size << ") is larger than bsp_max_queue_size ("
                << options.bsp_max_queue_size << "), which is used instead";
  }
  const tracing::SpanExporter::Limits limits{
      .max_queued = options.bsp_max_queue_size,
      .max_batch = options.bsp_max_export_batch_size,
      .delay_ns = base::Duration::Milliseconds(options.bsp_schedule_delay_ms).ns()};
  result.exporter = std::make_shared<tracing::SpanExporter>(limits, ResourceOf(options, version),
                                                            std::move(transport).value());
  NEREID_RETURN_IF_ERROR(result.exporter->Start());
  result.metrics = std::make_unique<telemetry::ScopedCollector>(
      *abi::ProcessRegistry(), [exporter = result.exporter](telemetry::MetricWriter& writer) {
        WriteMetrics(*exporter, writer);
      });
  LOG_INFO << "Traces go to " << curl::UrlWithoutUser(UrlOf(options)) << " (OpenTelemetry)";
  return result;
}

}  // namespace nereid::app
