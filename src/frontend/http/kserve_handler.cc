// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/kserve_handler.h"

#include <utility>

#include "api/status_map.h"
#include "api/version_text.h"
#include "base/blocking_workers.h"
#include "base/log.h"
#include "codec/json/documents.h"
#include "codec/json/log_settings.h"
#include "codec/json/repository_requests.h"
#include "codec/json/trace_settings.h"
#include "config/describe.h"
#include "frontend/http/generate_endpoint.h"
#include "frontend/http/infer_endpoint.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {
namespace {

using base::Status;

/// How many models can be loading at once at the wish of HTTP clients.
constexpr size_t kMaxBlockingThreads = 8;

/// An endpoint's answer: a JSON document, or nothing to say but yes.
using Document = base::Result<std::string>;

class KserveHandler final : public HttpHandler {
 public:
  KserveHandler(KserveOptions options, api::InferenceService& service)
      : options_(std::move(options)),
        service_(service),
        infer_(options_, service_),
        generate_(options_, service_) {}

  void Handle(Exchange& exchange) override;
  void AnswerInference(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                       int count) override {
    if (exchange.answer_form == AnswerForm::kGenerate) {
      return generate_.Answer(exchange, std::move(response), count);
    }
    infer_.Answer(exchange, std::move(response), count);
  }
  bool WantsTimes() const override {
    return options_.tracer != nullptr && options_.tracer->active();
  }
  void Stop() override { blocking_.Stop(); }

 private:
  void Get(Exchange& exchange, const Route& route, std::string_view type, bool allowed,
           Document (KserveHandler::*make)(const Route&));
  Document ServerMetadata(const Route& route);
  Document ServerLive(const Route& route);
  Document ServerReady(const Route& route);
  Document ModelMetadata(const Route& route);
  Document ModelReady(const Route& route);
  Document ModelConfig(const Route& route);
  Document Statistics(const Route& route);
  Document Sequences(const Route& route);
  void Logging(Exchange& exchange, bool change);
  void TraceSetting(Exchange& exchange, const Route& route, bool change);
  void RepositoryIndex(Exchange& exchange);
  void Load(Exchange& exchange, const Route& route);
  void Unload(Exchange& exchange, const Route& route);

  const KserveOptions options_;
  api::InferenceService& service_;
  const InferEndpoint infer_;
  const GenerateEndpoint generate_;
  base::BlockingWorkers blocking_{"http-blocking", kMaxBlockingThreads};
};

void ReplyError(Exchange& exchange, const Status& status, std::string_view type) {
  exchange.reply.SetError(api::HttpStatus(status.code()), type, status.message());
  exchange.Finish();
}

void ReplyText(Exchange& exchange, std::string_view type, std::string_view text) {
  exchange.reply.content_type = type;
  exchange.reply.text << text;
  exchange.Finish();
}

void ReplyWrongMethod(Exchange& exchange, std::string_view type) {
  exchange.reply.SetError(405, type, "Method Not Allowed");
  exchange.Finish();
}

void ReplyUnsupported(Exchange& exchange, std::string_view feature) {
  ReplyError(exchange, Status::Unsupported(std::string(feature) + " is not supported yet"),
             kJsonType);
}

void KserveHandler::Handle(Exchange& exchange) {
  LogRequest(exchange.head);
  const Route route = FindRoute(exchange.head.path());
  const bool get = exchange.head.method == Method::kGet;
  const bool post = exchange.head.method == Method::kPost;
  switch (route.endpoint) {
    case Endpoint::kInfer:
      if (!post) return ReplyWrongMethod(exchange, kTextType);
      return infer_.Handle(exchange, route);
    case Endpoint::kServerLive:
      return Get(exchange, route, kTextType, get, &KserveHandler::ServerLive);
    case Endpoint::kServerReady:
      return Get(exchange, route, kTextType, get, &KserveHandler::ServerReady);
    case Endpoint::kModelReady:
      return Get(exchange, route, kTextType, get, &KserveHandler::ModelReady);
    case Endpoint::kServerMetadata:
      return Get(exchange, route, kJsonType, get, &KserveHandler::ServerMetadata);
    case Endpoint::kModelMetadata:
      return Get(exchange, route, kJsonType, get, &KserveHandler::ModelMetadata);
    case Endpoint::kModelConfig:
      return Get(exchange, route, kJsonType, get, &KserveHandler::ModelConfig);
    case Endpoint::kStatistics:
      return Get(exchange, route, kJsonType, get, &KserveHandler::Statistics);
    case Endpoint::kSequences:
      return Get(exchange, route, kJsonType, get, &KserveHandler::Sequences);
    case Endpoint::kRepositoryIndex:
      if (!post) return ReplyWrongMethod(exchange, kJsonType);
      return RepositoryIndex(exchange);
    case Endpoint::kModelLoad:
      if (!post) return ReplyWrongMethod(exchange, kJsonType);
      return Load(exchange, route);
    case Endpoint::kModelUnload:
      if (!post) return ReplyWrongMethod(exchange, kJsonType);
      return Unload(exchange, route);
    case Endpoint::kGenerate:
    case Endpoint::kGenerateStream:
      if (!post) return ReplyWrongMethod(exchange, kJsonType);
      return generate_.Handle(exchange, route);
    case Endpoint::kTraceSetting:
      if (options_.tracer == nullptr) return ReplyUnsupported(exchange, "the trace extension");
      if (!get && !post) return ReplyWrongMethod(exchange, kJsonType);
      return TraceSetting(exchange, route, post);
    case Endpoint::kLogging:
      if (!get && !post) return ReplyWrongMethod(exchange, kJsonType);
      return Logging(exchange, post);
    case Endpoint::kSystemSharedMemory:
      return ReplyUnsupported(exchange, "the system shared memory extension");
    case Endpoint::kCudaSharedMemory:
      return ReplyUnsupported(exchange, "the CUDA shared memory extension");
    case Endpoint::kUnknown:
      break;
  }
  LogRequest(exchange.head, 404);
  exchange.reply.SetError(404, kTextType, "Not Found");
  exchange.Finish();
}

void KserveHandler::Get(Exchange& exchange, const Route& route, std::string_view type, bool allowed,
                        Document (KserveHandler::*make)(const Route&)) {
  if (!allowed) return ReplyWrongMethod(exchange, type);
  const Document document = (this->*make)(route);
  if (document.ok()) return ReplyText(exchange, type, *document);
  if (!document.status().message().empty()) return ReplyError(exchange, document.status(), type);
  exchange.reply.status = 400;  // "no", without a reason
  ReplyText(exchange, type, {});
}

/// Yes is an empty document; no is a failure without words.
Document YesOrNo(const base::Result<bool>& answer) {
  if (answer.ok() && *answer) return std::string();
  return Status::InvalidArgument("");
}

Document KserveHandler::ServerLive(const Route&) { return YesOrNo(service_.IsServerLive()); }

Document KserveHandler::ServerReady(const Route&) { return YesOrNo(service_.IsServerReady()); }

Document KserveHandler::ServerMetadata(const Route&) {
  return codec::json::EncodeServerMetadata(service_.GetServerMetadata());
}

Document KserveHandler::ModelMetadata(const Route& route) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  NEREID_ASSIGN_OR_RETURN(const api::ModelMetadata metadata,
                          service_.GetModelMetadata(std::string(route.model), version));
  return codec::json::EncodeModelMetadata(metadata);
}

Document KserveHandler::ModelReady(const Route& route) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  NEREID_ASSIGN_OR_RETURN(const bool ready,
                          service_.IsModelReady(std::string(route.model), version));
  if (!ready) return Status::InvalidArgument("Model version not ready");
  return std::string();
}

Document KserveHandler::ModelConfig(const Route& route) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  NEREID_ASSIGN_OR_RETURN(const std::shared_ptr<const config::ModelConfig> config,
                          service_.GetModelConfig(std::string(route.model), version));
  return config::DescribeModelConfigJson(*config);
}

Document KserveHandler::Statistics(const Route& route) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  NEREID_ASSIGN_OR_RETURN(const std::vector<api::ModelStatistics> statistics,
                          service_.GetModelStatistics(std::string(route.model), version));
  return codec::json::EncodeStatistics(statistics);
}

Document KserveHandler::Sequences(const Route& route) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(route.version));
  NEREID_ASSIGN_OR_RETURN(const api::SequenceList list,
                          service_.ListSequences(std::string(route.model), version));
  return codec::json::EncodeSequences(list);
}

void KserveHandler::Logging(Exchange& exchange, bool change) {
  if (change) {
    const auto changes = codec::json::DecodeLogChanges(exchange.body.view());
    if (!changes.ok()) return ReplyError(exchange, changes.status(), kJsonType);
    api::ChangeLogSettings(*changes);
  }
  ReplyText(exchange, kJsonType, codec::json::EncodeLogSettings(api::GetLogSettings()));
}

base::Result<api::TraceSettings> ChangeTraceSettings(tracing::RequestTracer& tracer,
                                                     const std::string& model,
                                                     std::string_view json) {
  NEREID_ASSIGN_OR_RETURN(const api::TraceChanges changes, codec::json::DecodeTraceChanges(json));
  return tracer.Change(model, changes);
}

void KserveHandler::TraceSetting(Exchange& exchange, const Route& route, bool change) {
  const std::string model(route.model);
  const Status known = api::CheckTracedModel(service_, model);
  if (!known.ok()) return ReplyError(exchange, known, kJsonType);
  tracing::RequestTracer& tracer = *options_.tracer;
  const base::Result<api::TraceSettings> settings =
      change ? ChangeTraceSettings(tracer, model, exchange.body.view()) : tracer.Settings(model);
  if (!settings.ok()) return ReplyError(exchange, settings.status(), kJsonType);
  ReplyText(exchange, kJsonType, codec::json::EncodeTraceSettings(*settings));
}

void KserveHandler::RepositoryIndex(Exchange& exchange) {
  const base::Result<bool> ready = codec::json::DecodeIndexRequest(exchange.body.view());
  if (!ready.ok()) return ReplyError(exchange, ready.status(), kJsonType);
  const auto entries = service_.GetRepositoryIndex(*ready);
  if (!entries.ok()) return ReplyError(exchange, entries.status(), kJsonType);
  ReplyText(exchange, kJsonType, codec::json::EncodeRepositoryIndex(*entries));
}

Status CheckNoRepository(const Route& route) {
  if (route.repository.empty()) return Status::Ok();
  return Status::Unsupported("'repository_name' specification is not supported");
}

void Answer(Exchange& exchange, const Status& status) {
  if (!status.ok()) return ReplyError(exchange, status, kJsonType);
  ReplyText(exchange, kJsonType, {});
}

void KserveHandler::Load(Exchange& exchange, const Route& route) {
  const Status named = CheckNoRepository(route);
  if (!named.ok()) return ReplyError(exchange, named, kJsonType);
  auto parameters = codec::json::DecodeLoadRequest(exchange.body.view());
  if (!parameters.ok()) return ReplyError(exchange, parameters.status(), kJsonType);
  blocking_.Run([this, shared = exchange.Share(), model = std::string(route.model),
                 parameters = std::move(*parameters)] {
    Answer(*shared, service_.LoadModel(model, parameters));
  });
}

void KserveHandler::Unload(Exchange& exchange, const Route& route) {
  const Status named = CheckNoRepository(route);
  if (!named.ok()) return ReplyError(exchange, named, kJsonType);
  const base::Result<bool> dependents = codec::json::DecodeUnloadRequest(exchange.body.view());
  if (!dependents.ok()) return ReplyError(exchange, dependents.status(), kJsonType);
  blocking_.Run(
      [this, shared = exchange.Share(), model = std::string(route.model),
       dependents = *dependents] { Answer(*shared, service_.UnloadModel(model, dependents)); });
}

}  // namespace

base::Result<std::shared_ptr<HttpHandler>> MakeKserveHandler(KserveOptions options,
                                                             api::InferenceService& service) {
  if (!options.header_forward_pattern.empty()) {
    return Status::Unsupported(
        "--http-header-forward-pattern is not supported yet: start the server without it");
  }
  return std::shared_ptr<HttpHandler>(std::make_shared<KserveHandler>(std::move(options), service));
}

}  // namespace nereid::frontend::http
