// SPDX-License-Identifier: Apache-2.0
#include "console/console_handler.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "api/field_filter.h"
#include "api/status_map.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "console/console_route.h"
#include "console/documents.h"
#include "console/page_files.h"
#include "console/page_guard.h"
#include "console/sampler.h"
#include "console/series.h"
#include "console/trace_store.h"
#include "frontend/http/admission.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/reply_stream.h"
#include "frontend/http/route.h"
#include "request/cancellation.h"
#include "request/trace.h"
#include "tracing/request_tracer.h"

namespace nereid::console {
namespace {

namespace http = frontend::http;
using base::Status;
using http::Exchange;
using http::Method;

/// How many documents are made at the same time, and how many wait.
constexpr size_t kMaxThreads = 2;
constexpr size_t kMaxWaiting = 64;
/// Of the log's document.
constexpr size_t kMaxLines = 2000;
constexpr size_t kMaxLogBytes = size_t{1} << 20;

constexpr std::string_view kNotStored = "Cache-Control: no-store\r\n";
/// A browser asks each time whether its copy is still the same.
constexpr std::string_view kAskAgain = "Cache-Control: no-cache\r\n";

constexpr http::StreamForm kEvents = {"text/event-stream; charset=utf-8", "", ":\n\n"};

/// Traces exactly the requests that bring a trace context.
api::TraceSettings TraceSettingsOfConsole() {
  return {.level = request::kTraceTimestamps,
          .rate = 0,
          .file = "",
          .mode = api::TraceMode::kOpenTelemetry};
}

bool IsV2(const http::PathView& path) { return http::PathSegments(path).TakeWord("v2"); }

/// Returns the number of the query "?after=N"; 0 without it.
uint64_t AfterOf(std::string_view target) {
  return base::ParseWhole<uint64_t>(http::QueryValue(target, "after")).value_or(0);
}

void Fail(Exchange& exchange, int status, std::string_view message) {
  exchange.reply().SetError(status, http::kJsonType, message);
}

void SetDocument(Exchange& exchange, const base::Result<std::string>& document) {
  if (!document.ok()) {
    return Fail(exchange, api::HttpStatus(document.status().code()), document.status().message());
  }
  exchange.reply().content_type = http::kJsonType;
  exchange.reply().extra_fields = kNotStored;
  exchange.reply().text << *document;
}

std::string_view FieldOf(const Exchange& exchange, std::string_view name) {
  const api::HeaderField* const field = api::FindField(exchange.head().fields, name);
  return field == nullptr ? std::string_view() : std::string_view(field->value);
}

class ConsoleHandler final : public Console {
 public:
  ConsoleHandler(ConsoleOptions options, api::InferenceService& service, ConsoleSource source)
      : options_(std::move(options)),
        service_(service),
        source_(std::move(source)),
        traces_(std::make_shared<TraceStore>()),
        tracer_(TraceSettingsOfConsole(), traces_),
        kserve_(http::MakeKserveHandler(KserveWithTracer(), service_)),
        sampler_(service_, series_, base::Log::Instance().tail()) {}

  Status Start() override { return sampler_.Start(); }
  void EndStreams() override { sampler_.Stop(); }

  void Handle(Exchange& exchange) override;
  bool MayReceiveBody(Exchange& exchange) override;
  http::BodyLimit LimitBody(Exchange& exchange) override {
    // MayReceiveBody() refuses the bodies of other requests.
    return MayReceiveBody(exchange) ? kserve_->LimitBody(exchange) : http::BodyLimit();
  }
  bool MakeInferenceReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                          int count) override {
    return kserve_->MakeInferenceReply(exchange, std::move(response), count);
  }
  bool WantsTimes() const override { return kserve_->WantsTimes(); }
  void FreeElsewhere(std::shared_ptr<void> owner) override {
    kserve_->FreeElsewhere(std::move(owner));
  }
  void Stop() override {
    EndStreams();
    documents_.Stop();
    kserve_->Stop();
  }

 private:
  using Document = base::Result<std::string>;

  http::KserveOptions KserveWithTracer() {
    http::KserveOptions kserve = options_.kserve;
    kserve.tracer = &tracer_;
    return kserve;
  }
  /// Returns whether the request comes from the console's own page, or from no page. If not, the
  /// reply says why.
  bool AdmitPage(Exchange& exchange) const;
  void ServePage(Exchange& exchange, std::string_view name) const;
  void ServeEvents(Exchange& exchange, EventBroadcast& events, std::string first) const;
  void ServeDocument(Exchange& exchange, const ConsolePath& path);
  Document MakeDocument(const Exchange& exchange, ConsoleEndpoint endpoint,
                        const std::string& name) const;
  Document SessionOf(const Exchange& exchange) const;
  Document TraceOf(const std::string& id) const;
  Document LogOf(uint64_t after) const;

  const ConsoleOptions options_;
  api::InferenceService& service_;
  const ConsoleSource source_;
  SeriesStore series_;
  const std::shared_ptr<TraceStore> traces_;
  tracing::RequestTracer tracer_;
  const std::shared_ptr<http::KserveRoutes> kserve_;
  Sampler sampler_;
  http::OffLoop documents_{"console-work", kMaxThreads, kMaxWaiting};
};

bool ConsoleHandler::AdmitPage(Exchange& exchange) const {
  const std::string refusal = WhyPageIsRefused(
      {FieldOf(exchange, kHostField), exchange.head().origin}, options_.is_guarded);
  if (refusal.empty()) return true;
  Fail(exchange, 403, refusal);
  return false;
}

bool ConsoleHandler::MayReceiveBody(Exchange& exchange) {
  if (!AdmitPage(exchange)) return false;
  const http::PathView path = exchange.head().path();
  if (IsV2(path)) {
    return kserve_->MayReceiveBodyAt(exchange, http::FindRoute(path), exchange.head().method);
  }
  Fail(exchange, 413, "requests for this path have no body");
  return false;
}

// The order of the checks: which page asks, who asks, then the rest.
void ConsoleHandler::Handle(Exchange& exchange) {
  http::LogRequest(exchange.head(), 0, "Console");
  if (!AdmitPage(exchange)) return exchange.Finish();
  const http::PathView path = exchange.head().path();
  if (IsV2(path)) return kserve_->Serve(exchange, http::FindRoute(path), exchange.head().method);
  const ConsolePath found = FindConsolePath(path);
  if (found.endpoint == ConsoleEndpoint::kUnknown) {
    Fail(exchange, 404, "the console has no such path");
    return exchange.Finish();
  }
  if (!http::Admit(options_.kserve.gate.get(), RouteOf(found.endpoint).operation, exchange)) {
    return exchange.Finish();
  }
  if (!http::IsRead(exchange.head().method)) {
    Fail(exchange, 405, "the console's own paths have the methods GET and HEAD only");
    exchange.reply().extra_fields = "Allow: GET, HEAD\r\n";
    return exchange.Finish();
  }
  switch (found.endpoint) {
    case ConsoleEndpoint::kPage:
      return ServePage(exchange, found.name);
    case ConsoleEndpoint::kEvents:
      return ServeEvents(exchange, sampler_.samples(), EncodeEvent("hello", "{}"));
    case ConsoleEndpoint::kLogEvents:
      return ServeEvents(exchange, sampler_.log_lines(), EncodeEvent("hello", "{}"));
    default:
      return ServeDocument(exchange, found);
  }
}

void ConsoleHandler::ServePage(Exchange& exchange, std::string_view name) const {
  http::Reply& reply = exchange.reply();
  if (const PageFile* const file = FindPageFile(name)) {
    const std::string tag = EntityTag(file->bytes);
    reply.extra_fields = "ETag: " + tag + "\r\n" + std::string(kAskAgain);
    if (HasEntityTag(FieldOf(exchange, kIfNoneMatchField), tag)) {
      reply.status = 304;
    } else {
      reply.content_type = file->content_type;
      reply.text << file->bytes;
    }
  } else {
    Fail(exchange, 404, "the console has no such file");
  }
  exchange.Finish();
}

void ConsoleHandler::ServeEvents(Exchange& exchange, EventBroadcast& events,
                                 std::string first) const {
  exchange.reply().extra_fields = kNotStored;
  if (exchange.head().method == Method::kHead) {
    exchange.reply().content_type = kEvents.content_type;
    return exchange.Finish();
  }
  const auto stream = exchange.BeginStream(std::make_shared<request::Cancellation>(), kEvents);
  if (events.Add(stream, std::move(first))) return;
  exchange.ResignSink();
  Fail(exchange, 503,
       "the server stops, or " + std::to_string(EventBroadcast::kMaxViewers) +
           " viewers have a stream of these events already. Close one of their pages");
  exchange.Finish();
}

void ConsoleHandler::ServeDocument(Exchange& exchange, const ConsolePath& path) {
  documents_.Run(exchange,
                 [this, &exchange, endpoint = path.endpoint, name = std::string(path.name)] {
                   SetDocument(exchange, MakeDocument(exchange, endpoint, name));
                 });
}

ConsoleHandler::Document ConsoleHandler::MakeDocument(const Exchange& exchange,
                                                      ConsoleEndpoint endpoint,
                                                      const std::string& name) const {
  switch (endpoint) {
    case ConsoleEndpoint::kSession:
      return SessionOf(exchange);
    case ConsoleEndpoint::kSeries:
      return SeriesDocument(series_.All(), series_.omitted());
    case ConsoleEndpoint::kModelSeries:
      return SeriesDocument(series_.Of(name), 0);
    case ConsoleEndpoint::kModelState: {
      NEREID_ASSIGN_OR_RETURN(const auto statistics, service_.GetModelStatistics(name, -1));
      return ModelStateDocument(statistics, source_.core_shares());
    }
    case ConsoleEndpoint::kExplain:
      return source_.explain(name);
    case ConsoleEndpoint::kLog:
      return LogOf(AfterOf(exchange.head().target));
    case ConsoleEndpoint::kTraces:
      return TracesDocument(traces_->List());
    case ConsoleEndpoint::kTrace:
      return TraceOf(name);
    case ConsoleEndpoint::kUnknown:
    case ConsoleEndpoint::kPage:
    case ConsoleEndpoint::kEvents:
    case ConsoleEndpoint::kLogEvents:
      break;
  }
  return Status::Internal("the console has no document for this path");
}

ConsoleHandler::Document ConsoleHandler::SessionOf(const Exchange& exchange) const {
  Session session{.roles = api::kAllRoles,
                  .is_guarded = options_.is_guarded,
                  .serves_management = options_.serves_management,
                  .server = service_.GetServerMetadata()};
  if (options_.is_guarded && options_.kserve.gate != nullptr) {
    session.roles = options_.kserve.gate
                        ->Admit(RouteOf(ConsoleEndpoint::kSession).operation,
                                api::MakeCaller(exchange.head().fields, exchange.peer()))
                        .roles;
  }
  return SessionDocument(session);
}

ConsoleHandler::Document ConsoleHandler::TraceOf(const std::string& id) const {
  const TraceStore::Trace trace = traces_->Find(id);
  if (trace.spans.empty()) {
    return Status::NotFound(
        "no trace has this id: its request may be in progress, or newer traces "
        "have replaced it");
  }
  return TraceDocument(trace);
}

ConsoleHandler::Document ConsoleHandler::LogOf(uint64_t after) const {
  const base::LogTail* const tail = base::Log::Instance().tail();
  if (tail == nullptr) return Status::NotFound("the server keeps no lines of the log");
  return LogDocument(tail->After(after, kMaxLines), tail->last(), kMaxLogBytes);
}

}  // namespace

std::shared_ptr<Console> MakeConsole(ConsoleOptions options, api::InferenceService& service,
                                     ConsoleSource source) {
  return std::make_shared<ConsoleHandler>(std::move(options), service, std::move(source));
}

}  // namespace nereid::console
