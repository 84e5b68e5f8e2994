// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/kserve_handler.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/status_map.h"
#include "api/unsupported.h"
#include "api/version_text.h"
#include "base/blocking_workers.h"
#include "base/threads.h"
#include "codec/json/log_settings.h"
#include "codec/json/model_config.h"
#include "codec/json/model_load.h"
#include "codec/json/model_metadata.h"
#include "codec/json/model_statistics.h"
#include "codec/json/model_unload.h"
#include "codec/json/repository_index.h"
#include "codec/json/rollout.h"
#include "codec/json/sequences.h"
#include "codec/json/server_metadata.h"
#include "codec/json/trace_settings.h"
#include "frontend/http/admission.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/generate_endpoint.h"
#include "frontend/http/health_endpoint.h"
#include "frontend/http/infer_endpoint.h"
#include "frontend/http/load_endpoint.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/openapi_endpoint.h"
#include "frontend/http/operation_pools.h"
#include "frontend/http/route.h"
#include "frontend/http/sequence_endpoint.h"
#include "frontend/http/shared_memory_endpoint.h"
#include "frontend/http/v1_health.h"

namespace nereid::frontend::http {
namespace {

using base::Status;

/// Returns the number of threads that encode and decode: that of the CPUs, because the work does
/// not block.
size_t CodecThreads() {
  constexpr int kMaxThreads = 8;
  return static_cast<size_t>(std::min(base::AvailableCpuCount(), kMaxThreads));
}

/// How many messages wait for being encoded or decoded.
constexpr size_t kMaxWaitingCodecs = 4096;

/// The result of an operation: a JSON document, or an empty text for "yes" or "done".
using Document = base::Result<std::string>;

class KserveHandler final : public KserveRoutes {
 public:
  KserveHandler(KserveOptions options, api::InferenceService& service)
      : options_(std::move(options)),
        service_(service),
        infer_(options_, service_, codec_),
        generate_(options_, service_, codec_),
        health_(service_),
        openapi_(service_),
        shown_loads_(service_),
        shared_memory_(service_.shared_memory()),
        sequences_(service_) {}

  void Handle(Exchange& exchange) override;
  void Serve(Exchange& exchange, const Route& route, Method method) override;
  void Run(Exchange& exchange, api::Operation operation, std::function<void()> work) override {
    pools_.Run(exchange, operation, std::move(work));
  }
  bool MayReceiveBody(Exchange& exchange) override;
  bool MayReceiveBodyAt(Exchange& exchange, const Route& route, Method method) override;
  BodyLimit LimitBody(Exchange& exchange) override {
    return LimitBodyAt(exchange, FindRoute(exchange.head().path()), exchange.head().method);
  }
  BodyLimit LimitBodyAt(Exchange& exchange, const Route& route, Method method) override;
  memory::HostBuffer TakeBodyMemory(Exchange& exchange, size_t size) override;
  bool MakeInferenceReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                          int count) override;
  bool WantsTimes() const override {
    return options_.tracer != nullptr && options_.tracer->active();
  }
  void FreeElsewhere(std::shared_ptr<void> owner) override {
    frees_.Run([owner = std::move(owner)] {});
  }
  void Stop() override {
    frees_.Stop();
    codec_.Stop();
    pools_.Stop();
  }

 private:
  /// Returns whether the path has a label although the model has no rollout. It then names no
  /// operation, as in Triton.
  bool NamesUnknownLabel(const Route& route) const {
    if (!api::IsVersionLabel(route.version)) return false;
    return service_.rollouts() == nullptr || !service_.rollouts()->Has(route.model);
  }
  void ServeAdmitted(Exchange& exchange, const Route& route, Method method);
  void Inflate(Exchange& exchange, const Route& route, Method method);
  bool AdmitTo(Exchange& exchange, const EndpointSpec& spec, Method method) const;
  void Answer(Exchange& exchange, const Route& route, Method method) const;
  void MakeReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                 int count);
  Document ModelMetadata(const Route& route) const;
  Document ModelReady(const Route& route) const;
  Document ModelConfig(const Route& route) const;
  Document Statistics(const Route& route) const;
  Document Sequences(const Route& route) const;
  Document Logging(std::string_view json, bool change) const;
  Document TraceSetting(const Route& route, std::string_view json, bool change) const;
  Document RepositoryIndex(std::string_view json) const;
  Document Load(const Exchange& exchange, const Route& route) const;
  Document Unload(const Route& route, std::string_view json) const;
  Document Rollout(const Route& route, Method method, std::string_view json) const;

  const KserveOptions options_;
  api::InferenceService& service_;
  const InferEndpoint infer_;
  const GenerateEndpoint generate_;
  const HealthEndpoint health_;
  const OpenApiEndpoint openapi_;
  const LoadEndpoint shown_loads_;
  const SharedMemoryEndpoint shared_memory_;
  const SequenceEndpoint sequences_;
  OperationPools pools_;
  // Not one of those: large messages wait for a CPU.
  OffLoop codec_{"http-codec", CodecThreads(), kMaxWaitingCodecs, base::PoolWork::kComputes};
  base::BlockingWorkers frees_{"http-free", 1};
};

void SetError(Exchange& exchange, const Status& status, std::string_view type) {
  exchange.reply().SetError(api::HttpStatus(status.code()), type, status.message());
}

void SetText(Exchange& exchange, std::string_view type, std::string_view text) {
  exchange.reply().content_type = type;
  exchange.reply().text << text;
}

void SetDocument(Exchange& exchange, std::string_view type, const Document& document) {
  if (document.ok()) return SetText(exchange, type, *document);
  if (!document.status().message().empty()) return SetError(exchange, document.status(), type);
  exchange.reply().status = 400;  // Triton's "no", which has no text
  SetText(exchange, type, {});
}

std::string_view ErrorType(const EndpointSpec& spec) {
  return spec.has_plain_errors ? kTextType : kJsonType;
}

bool KserveHandler::AdmitTo(Exchange& exchange, const EndpointSpec& spec, Method method) const {
  return Admit(options_.gate.get(), spec.OperationOf(method), exchange);
}

bool KserveHandler::MayReceiveBody(Exchange& exchange) {
  if (options_.gate == nullptr) return true;
  return MayReceiveBodyAt(exchange, FindRoute(exchange.head().path()), exchange.head().method);
}

bool KserveHandler::MayReceiveBodyAt(Exchange& exchange, const Route& route, Method method) {
  return route.endpoint == Endpoint::kUnknown || AdmitTo(exchange, SpecOf(route.endpoint), method);
}

BodyLimit KserveHandler::LimitBodyAt(Exchange& exchange, const Route& route, Method method) {
  // A client that is not admitted gets that reply, from MayReceiveBody().
  if (!MayReceiveBodyAt(exchange, route, method)) return {};
  switch (route.endpoint) {
    case Endpoint::kInfer:
      return LimitInferBody(exchange.head(), options_.max_input_size);
    case Endpoint::kModelLoad:      // may bring the files of a model
    case Endpoint::kSequenceClaim:  // from another replica
    case Endpoint::kSequenceSettle:
    case Endpoint::kSequenceOffer:
      return {};
    default:
      return LimitJsonBody(exchange.head(), options_.max_input_size);
  }
}

// The client is admitted first: MayReceiveBody() refuses another one, with this reply.
memory::HostBuffer KserveHandler::TakeBodyMemory(Exchange& exchange, size_t size) {
  const Route route = FindRoute(exchange.head().path());
  const Method method = exchange.head().method;
  if (route.endpoint != Endpoint::kInfer || method != Method::kPost) return {};
  if (!AdmitTo(exchange, SpecOf(route.endpoint), method)) return {};
  return infer_.TakeBodyMemory(route, size);
}

void KserveHandler::Handle(Exchange& exchange) {
  LogRequest(exchange.head());
  Serve(exchange, FindRoute(exchange.head().path()), exchange.head().method);
}

bool IsInference(const Route& route) {
  return route.endpoint == Endpoint::kInfer || route.endpoint == Endpoint::kGenerate ||
         route.endpoint == Endpoint::kGenerateStream;
}

void ReplyNotFound(Exchange& exchange) {
  LogRequest(exchange.head(), 404);
  exchange.reply().SetError(404, kTextType, "Not Found");
  exchange.Finish();
}

// The order of the checks is Triton's: who asks, then the method, then the rest.
void KserveHandler::Serve(Exchange& exchange, const Route& route, Method method) {
  if (api::AccessRecord* const record = exchange.access_entry().record()) {
    record->SetTarget(route.model, {});  // an inference adds its id
  }
  if (route.endpoint == Endpoint::kUnknown) return ReplyNotFound(exchange);
  const EndpointSpec& spec = SpecOf(route.endpoint);
  if (!AdmitTo(exchange, spec, method)) return exchange.Finish();
  if (NamesUnknownLabel(route)) {
    if (IsInference(route)) {
      CountRefused(service_, options_, exchange, api::RefusedAt::kSubmission,
                   base::StatusCode::kNotFound);
    }
    return ReplyNotFound(exchange);
  }
  if (!spec.Accepts(method)) {
    exchange.reply().SetError(405, ErrorType(spec), "Method Not Allowed");
    exchange.reply().extra_fields = AllowField(spec);
    return exchange.Finish();
  }
  if (route.endpoint == Endpoint::kInfer) return infer_.Handle(exchange, route);
  if (IsInference(route)) return generate_.Handle(exchange, route);
  if (spec.reasons && AsksForReasons(exchange.head())) {
    if (!Admit(options_.gate.get(), *spec.reasons, exchange)) return exchange.Finish();
    return pools_.Run(exchange, *spec.reasons,
                      [this, &exchange, route] { health_.Explain(exchange, route); });
  }
  if (method == Method::kHead) method = Method::kGet;  // the connection leaves the body out
  const bool is_packed = !exchange.head().content_encoding.empty();
  if (is_packed && exchange.body().total_size() != 0) return Inflate(exchange, route, method);
  ServeAdmitted(exchange, route, method);
}

/// Serves a request that is compressed like one that is not, off the loop.
void KserveHandler::Inflate(Exchange& exchange, const Route& route, Method method) {
  const auto result = std::make_shared<std::optional<Status>>();
  exchange.ContinueWith([this, &exchange, route, method, result] {
    if (!*result) return exchange.Finish();  // OffLoop has failed, and the reply says why
    if ((*result)->ok()) return ServeAdmitted(exchange, route, method);
    const std::string known = std::move(exchange.reply().extra_fields);
    const int status = known.empty() ? api::HttpStatus((*result)->code()) : 415;
    exchange.reply().SetError(status, ErrorType(SpecOf(route.endpoint)), (*result)->message());
    exchange.reply().extra_fields = known;
    exchange.Finish();
  });
  const bool is_load = route.endpoint == Endpoint::kModelLoad;
  codec_.Run(exchange, [this, &exchange, is_load, result] {
    *result = DecompressBody(exchange, is_load ? UINT64_MAX : options_.max_input_size,
                             options_.receive_budget);
  });
}

void KserveHandler::ServeAdmitted(Exchange& exchange, const Route& route, Method method) {
  pools_.Run(exchange, SpecOf(route.endpoint).OperationOf(method),
             [this, &exchange, route, method] { Answer(exchange, route, method); });
}

/// Returns an empty document for "yes", and an error without a text for "no".
Document YesOrNo(const base::Result<bool>& answer) {
  if (answer.ok() && *answer) return std::string();
  return Status::InvalidArgument("");
}

/// Makes the reply to a request that is no inference. Runs on a thread for its operation's cost.
void KserveHandler::Answer(Exchange& exchange, const Route& route, Method method) const {
  const bool post = method == Method::kPost;
  const std::string_view json = exchange.body().view();
  switch (route.endpoint) {
    case Endpoint::kServerLive:
      return SetDocument(exchange, kTextType, YesOrNo(service_.IsServerLive()));
    case Endpoint::kServerReady:
      return SetDocument(exchange, kTextType, YesOrNo(service_.IsServerReady()));
    case Endpoint::kModelReady:
      return SetDocument(exchange, kTextType, ModelReady(route));
    case Endpoint::kDrain:
      return health_.Drain(exchange, method);
    case Endpoint::kSequenceClaim:
    case Endpoint::kSequenceSettle:
    case Endpoint::kSequenceOffer:
      return sequences_.Reply(exchange, route.endpoint);
    case Endpoint::kV1Live:
    case Endpoint::kV1ModelReady:
      return SetDocument(exchange, kJsonType, V1Health(service_, route));
    case Endpoint::kServerMetadata:
      return SetDocument(exchange, kJsonType,
                         codec::json::EncodeServerMetadata(service_.GetServerMetadata()));
    case Endpoint::kModelMetadata:
      return SetDocument(exchange, kJsonType, ModelMetadata(route));
    case Endpoint::kServerOpenApi:
    case Endpoint::kModelOpenApi:
      return exchange.reply().SetDocument(openapi_.Document(route));
    case Endpoint::kModelConfig:
      return SetDocument(exchange, kJsonType, ModelConfig(route));
    case Endpoint::kStatistics:
      return SetDocument(exchange, kJsonType, Statistics(route));
    case Endpoint::kSequences:
      return SetDocument(exchange, kJsonType, Sequences(route));
    case Endpoint::kRepositoryIndex:
      return SetDocument(exchange, kJsonType, RepositoryIndex(json));
    case Endpoint::kModelLoad:
      return SetDocument(exchange, kJsonType,
                         post ? Load(exchange, route) : shown_loads_.Document(route, method));
    case Endpoint::kModelUnload:
      return SetDocument(exchange, kJsonType, Unload(route, json));
    case Endpoint::kRollout:
      return SetDocument(exchange, kJsonType, Rollout(route, method, json));
    case Endpoint::kTraceSetting:
      return SetDocument(exchange, kJsonType, TraceSetting(route, json, post));
    case Endpoint::kLogging:
      return SetDocument(exchange, kJsonType, Logging(json, post));
    case Endpoint::kSharedMemoryStatus:
    case Endpoint::kSharedMemoryRegister:
    case Endpoint::kSharedMemoryUnregister:
      return exchange.reply().SetDocument(shared_memory_.Document(route, exchange));
    case Endpoint::kInfer:
    case Endpoint::kGenerate:
    case Endpoint::kGenerateStream:
    case Endpoint::kUnknown:
      break;
  }
}

bool KserveHandler::MakeInferenceReply(Exchange& exchange,
                                       std::unique_ptr<request::InferenceResponse> response,
                                       int count) {
  const bool is_large = exchange.reply_form() == ReplyForm::kGenerate
                            ? generate_.IsLargeReply(response.get())
                            : infer_.IsLargeReply(exchange, response.get());
  if (!is_large) {
    MakeReply(exchange, std::move(response), count);
    return true;
  }
  const auto held =
      std::make_shared<std::unique_ptr<request::InferenceResponse>>(std::move(response));
  codec_.Run(exchange,
             [this, &exchange, held, count] { MakeReply(exchange, std::move(*held), count); });
  return false;
}

void KserveHandler::MakeReply(Exchange& exchange,
                              std::unique_ptr<request::InferenceResponse> response, int count) {
  if (exchange.reply_form() == ReplyForm::kGenerate) {
    return generate_.MakeReply(exchange, std::move(response), count);
  }
  infer_.MakeReply(exchange, std::move(response), count);
}

Document KserveHandler::ModelMetadata(const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service_.ResolveVersion(std::string(route.model), route.version));
  NEREID_ASSIGN_OR_RETURN(const api::ModelMetadata metadata,
                          service_.GetModelMetadata(std::string(route.model), version));
  return codec::json::EncodeModelMetadata(metadata);
}

Document KserveHandler::ModelReady(const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service_.ResolveVersion(std::string(route.model), route.version));
  NEREID_ASSIGN_OR_RETURN(const bool ready,
                          service_.IsModelReady(std::string(route.model), version));
  if (!ready) return Status::InvalidArgument("Model version not ready");
  return std::string();
}

Document KserveHandler::ModelConfig(const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service_.ResolveVersion(std::string(route.model), route.version));
  NEREID_ASSIGN_OR_RETURN(const std::shared_ptr<const config::ModelConfig> config,
                          service_.GetModelConfig(std::string(route.model), version));
  return codec::json::EncodeModelConfig(*config);
}

Document KserveHandler::Statistics(const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service_.ResolveVersion(std::string(route.model), route.version));
  NEREID_ASSIGN_OR_RETURN(const std::vector<api::ModelStatistics> statistics,
                          service_.GetModelStatistics(std::string(route.model), version));
  return codec::json::EncodeModelStatistics(statistics);
}

Document KserveHandler::Sequences(const Route& route) const {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service_.ResolveVersion(std::string(route.model), route.version));
  NEREID_ASSIGN_OR_RETURN(const api::SequenceList list,
                          service_.ListSequences(std::string(route.model), version));
  return codec::json::EncodeSequences(list);
}

Document KserveHandler::Logging(std::string_view json, bool change) const {
  api::LogChanges changes;
  if (change) {
    NEREID_ASSIGN_OR_RETURN(changes, codec::json::DecodeLogChanges(json));
  }
  return codec::json::EncodeLogSettings(service_.UpdateLogSettings(changes));
}

Document KserveHandler::TraceSetting(const Route& route, std::string_view json, bool change) const {
  const auto read = [&]() -> base::Result<std::optional<api::TraceChanges>> {
    if (!change) return std::optional<api::TraceChanges>();
    NEREID_ASSIGN_OR_RETURN(api::TraceChanges changes, codec::json::DecodeTraceChanges(json));
    return std::optional<api::TraceChanges>(std::move(changes));
  };
  NEREID_ASSIGN_OR_RETURN(const api::TraceSettings settings,
                          service_.UpdateTraceSettings(std::string(route.model), read));
  return codec::json::EncodeTraceSettings(settings);
}

Document KserveHandler::RepositoryIndex(std::string_view json) const {
  NEREID_ASSIGN_OR_RETURN(const bool ready, codec::json::DecodeRepositoryIndexRequest(json));
  NEREID_ASSIGN_OR_RETURN(const std::vector<api::RepositoryIndexEntry> entries,
                          service_.GetRepositoryIndex(ready));
  return codec::json::EncodeRepositoryIndex(entries);
}

Document EmptyOr(const Status& status) {
  if (!status.ok()) return status;
  return std::string();
}

Document KserveHandler::Load(const Exchange& exchange, const Route& route) const {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(route.repository));
  NEREID_ASSIGN_OR_RETURN(std::vector<api::LoadParameter> parameters,
                          codec::json::DecodeModelLoadRequest(exchange.body().view()));
  return EmptyOr(service_.LoadModel(std::string(route.model), std::move(parameters),
                                    [&exchange] { return exchange.IsGone(); }));
}

Document KserveHandler::Unload(const Route& route, std::string_view json) const {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(route.repository));
  NEREID_ASSIGN_OR_RETURN(const bool dependents, codec::json::DecodeModelUnloadRequest(json));
  return EmptyOr(service_.UnloadModel(std::string(route.model), dependents));
}

Document KserveHandler::Rollout(const Route& route, Method method, std::string_view json) const {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(route.repository));
  api::RolloutControl* const rollouts = service_.rollouts();
  if (rollouts == nullptr) return api::ExtensionUnsupported("rollout");
  const std::string model(route.model);
  if (method == Method::kDelete) return EmptyOr(rollouts->Remove(model));
  if (method == Method::kPut) {
    NEREID_ASSIGN_OR_RETURN(rollout::RolloutPlan plan, codec::json::DecodeRolloutPlan(json));
    NEREID_RETURN_IF_ERROR(rollouts->Set(model, std::move(plan)));
  }
  NEREID_ASSIGN_OR_RETURN(const rollout::RolloutStatus status, rollouts->Get(model));
  return codec::json::EncodeRolloutStatus(status);
}

}  // namespace

std::shared_ptr<KserveRoutes> MakeKserveHandler(KserveOptions options,
                                                api::InferenceService& service) {
  return std::make_shared<KserveHandler>(std::move(options), service);
}

}  // namespace nereid::frontend::http
