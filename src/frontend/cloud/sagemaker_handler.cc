// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_handler.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/field_filter.h"
#include "api/status_map.h"
#include "base/log.h"
#include "codec/json/sagemaker_model.h"
#include "frontend/cloud/forwarding_handler.h"
#include "frontend/cloud/out_of_memory.h"
#include "frontend/cloud/sagemaker_models.h"
#include "frontend/cloud/sagemaker_route.h"
#include "frontend/http/admission.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/infer_endpoint.h"
#include "frontend/http/request_path.h"

namespace nereid::frontend::cloud {
namespace {

using base::Status;
using http::Exchange;

constexpr std::string_view kService = "SageMaker";
/// The largest body of a request to load a model: a name and a path.
constexpr size_t kMaxLoadBody = size_t{64} << 10;

constexpr int kConflict = 409;
constexpr int kInsufficientStorage = 507;

// As in Triton, a model that cannot be loaded is the client's fault, also if the core does not say
// so.
int HttpStatusOf(const Status& status) {
  if (IsOutOfMemory(status)) return kInsufficientStorage;
  switch (status.code()) {
    case base::StatusCode::kAlreadyExists:
      return kConflict;
    case base::StatusCode::kInternal:
    case base::StatusCode::kUnsupported:
      return 400;
    default:
      return api::HttpStatus(status.code());
  }
}

/// Replies with a JSON document, or with the reason why there is none.
void SetDocument(Exchange& exchange, const base::Result<std::string>& document) {
  http::Reply& reply = exchange.reply();
  if (!document.ok()) {
    const Status& status = document.status();
    return reply.SetError(HttpStatusOf(status), http::kJsonType, status.message());
  }
  reply.content_type = http::kJsonType;
  reply.text << *document;
}

/// Returns what the client of InvokeEndpoint calls a model.
std::string TargetOf(const Exchange& exchange, std::string_view model) {
  const api::HeaderField* field = api::FindField(exchange.head().fields, kSagemakerTargetField);
  return field != nullptr ? field->value : std::string(model);
}

/// Returns the field Allow for an endpoint.
std::string AllowFieldOf(SagemakerEndpoint endpoint) {
  std::vector<http::Method> methods;
  for (const SagemakerRoute& route : AllSagemakerRoutes()) {
    if (route.endpoint != endpoint) continue;
    methods.push_back(route.method);
    if (route.method == http::Method::kGet) methods.push_back(http::Method::kHead);
  }
  return http::AllowField(methods);
}

class SagemakerHandler final : public ForwardingHandler {
 public:
  SagemakerHandler(SagemakerHandlerOptions options, api::InferenceService& service,
                   api::ModelDirectories& directories)
      : ForwardingHandler(http::MakeKserveHandler(options.kserve, service)),
        service_(service),
        options_(std::move(options)),
        models_(service, directories, {.roots = options_.roots}) {}

  void Handle(Exchange& exchange) override;
  bool MayReceiveBody(Exchange& exchange) override;
  http::BodyLimit LimitBody(Exchange& exchange) override;
  bool MakeInferenceReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                          int count) override;
  void Stop() override {
    models_.Stop();
    ForwardingHandler::Stop();
  }

 private:
  std::optional<http::Route> KserveRouteOf(const SagemakerPath& path) const;
  const SagemakerRoute* Admit(Exchange& exchange, const SagemakerPath& path) const;
  void Invoke(Exchange& exchange, const SagemakerPath& path, const http::Route& route);
  void HandleModels(Exchange& exchange, const SagemakerPath& path);
  void List(Exchange& exchange) const;
  void Find(Exchange& exchange, std::string_view name) const;
  void Load(Exchange& exchange);
  void Unload(Exchange& exchange, const std::string& name);

  api::InferenceService& service_;
  const SagemakerHandlerOptions options_;
  SagemakerModels models_;
};

/// Returns the route of KServe that serves a path, or nothing: this handler serves it.
std::optional<http::Route> SagemakerHandler::KserveRouteOf(const SagemakerPath& path) const {
  http::Route route;
  switch (path.endpoint) {
    case SagemakerEndpoint::kPing:
      route.endpoint = options_.ping;
      return route;
    case SagemakerEndpoint::kInvocations:
      route.endpoint = options_.invocations;
      route.model = options_.default_model;
      return route;
    case SagemakerEndpoint::kInvoke:
      route.endpoint = http::Endpoint::kInfer;
      route.model = path.model;
      return route;
    case SagemakerEndpoint::kModels:
    case SagemakerEndpoint::kModel:
    case SagemakerEndpoint::kUnknown:
      break;
  }
  return std::nullopt;
}

/// Returns the route of a request, or null: the reply says why it is refused.
const SagemakerRoute* SagemakerHandler::Admit(Exchange& exchange, const SagemakerPath& path) const {
  const SagemakerRoute* route = FindSagemakerRoute(path.endpoint, exchange.head().method);
  if (route == nullptr) {
    exchange.reply().SetError(405, http::kJsonType, "Method Not Allowed");
    exchange.reply().extra_fields = AllowFieldOf(path.endpoint);
    return nullptr;
  }
  const bool admitted = http::Admit(options_.kserve.gate.get(), route->operation, exchange);
  return admitted ? route : nullptr;
}

bool SagemakerHandler::MayReceiveBody(Exchange& exchange) {
  const SagemakerPath path = FindSagemakerPath(exchange.head().path());
  if (path.endpoint == SagemakerEndpoint::kUnknown) return true;
  if (const auto route = KserveRouteOf(path)) {
    return kserve().MayReceiveBodyAt(exchange, *route, exchange.head().method);
  }
  return Admit(exchange, path) != nullptr;
}

http::BodyLimit SagemakerHandler::LimitBody(Exchange& exchange) {
  if (!MayReceiveBody(exchange)) return {};  // which then refuses it
  const SagemakerPath path = FindSagemakerPath(exchange.head().path());
  if (const auto route = KserveRouteOf(path)) {
    return kserve().LimitBodyAt(exchange, *route, exchange.head().method);
  }
  return {kMaxLoadBody};
}

void SagemakerHandler::Handle(Exchange& exchange) {
  http::LogRequest(exchange.head(), 0, kService);
  const SagemakerPath path = FindSagemakerPath(exchange.head().path());
  if (path.endpoint == SagemakerEndpoint::kUnknown) return RefusePath(exchange, kService);
  if (const auto route = KserveRouteOf(path)) return Invoke(exchange, path, *route);
  HandleModels(exchange, path);
}

void SagemakerHandler::Invoke(Exchange& exchange, const SagemakerPath& path,
                              const http::Route& route) {
  const bool is_invoke =
      path.endpoint == SagemakerEndpoint::kInvoke && exchange.head().method == http::Method::kPost;
  if (!is_invoke) return kserve().Serve(exchange, route, exchange.head().method);
  if (Admit(exchange, path) == nullptr) return exchange.Finish();
  // The other models are not those of this endpoint.
  if (const auto model = models_.Find(std::string(path.model)); !model.ok()) {
    http::CountRefused(service_, options_.kserve, exchange, api::RefusedAt::kSubmission,
                       model.status().code());
    SetDocument(exchange, model.status());
    return exchange.Finish();
  }
  LOG_VERBOSE(1) << "Invoking SageMaker TargetModel: " << TargetOf(exchange, path.model);
  kserve().Serve(exchange, route, http::Method::kPost);
}

void SagemakerHandler::HandleModels(Exchange& exchange, const SagemakerPath& path) {
  const SagemakerRoute* const route = Admit(exchange, path);
  if (route == nullptr) return exchange.Finish();
  const bool is_read = route->method == http::Method::kGet;
  const bool is_list = path.endpoint == SagemakerEndpoint::kModels;
  if (is_list && !is_read && exchange.body().size > kMaxLoadBody) {
    exchange.reply().SetError(
        413, http::kJsonType,
        "a request to load a model has at most " + std::to_string(kMaxLoadBody) + " bytes");
    return exchange.Finish();
  }
  kserve().Run(exchange, route->operation, [this, &exchange, model = path.model, is_read, is_list] {
    if (is_list) return is_read ? List(exchange) : Load(exchange);
    return is_read ? Find(exchange, model) : Unload(exchange, std::string(model));
  });
}

void SagemakerHandler::List(Exchange& exchange) const {
  const auto page = models_.List(http::QueryValue(exchange.head().target, "next_page_token"));
  SetDocument(exchange,
              page.ok() ? codec::json::EncodeSagemakerModels(page->models, page->next_page_token)
                        : base::Result<std::string>(page.status()));
}

void SagemakerHandler::Find(Exchange& exchange, std::string_view name) const {
  const auto model = models_.Find(std::string(name));
  SetDocument(exchange, model.ok() ? codec::json::EncodeSagemakerModel(*model)
                                   : base::Result<std::string>(model.status()));
}

void SagemakerHandler::Load(Exchange& exchange) {
  if (const Status status = http::DecompressBody(exchange, kMaxLoadBody, nullptr); !status.ok()) {
    const bool is_known = status.code() != base::StatusCode::kUnsupported;
    return exchange.reply().SetError(is_known ? HttpStatusOf(status) : 415, http::kJsonType,
                                     status.message());
  }
  const auto model = codec::json::DecodeSagemakerLoad(exchange.body().view());
  if (!model.ok()) return SetDocument(exchange, model.status());
  LOG_INFO_OF(.model = model->name)
      << "Loading SageMaker TargetModel: " << TargetOf(exchange, model->name);
  const Status status = models_.Load(*model, [&exchange] { return exchange.IsGone(); });
  SetDocument(exchange, status.ok() ? base::Result<std::string>(std::string()) : status);
}

void SagemakerHandler::Unload(Exchange& exchange, const std::string& name) {
  LOG_INFO_OF(.model = name) << "Unloading SageMaker TargetModel: " << TargetOf(exchange, name);
  const Status status = models_.Unload(name, [&exchange] { return exchange.IsGone(); });
  SetDocument(exchange, status.ok() ? base::Result<std::string>(std::string()) : status);
}

// SageMaker unloads other models when it is told that memory was missing.
bool SagemakerHandler::MakeInferenceReply(Exchange& exchange,
                                          std::unique_ptr<request::InferenceResponse> response,
                                          int count) {
  if (response == nullptr || !IsOutOfMemory(response->error())) {
    return ForwardingHandler::MakeInferenceReply(exchange, std::move(response), count);
  }
  exchange.reply().SetError(kInsufficientStorage, http::kJsonType, response->error().message());
  return true;
}

}  // namespace

std::shared_ptr<http::HttpHandler> MakeSagemakerHandler(SagemakerHandlerOptions options,
                                                        api::InferenceService& service,
                                                        api::ModelDirectories& directories) {
  options.kserve.binary_type = kSagemakerBinaryType;
  return std::make_shared<SagemakerHandler>(std::move(options), service, directories);
}

}  // namespace nereid::frontend::cloud
