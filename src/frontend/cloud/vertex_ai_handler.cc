// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/vertex_ai_handler.h"

#include <optional>
#include <set>
#include <utility>

#include "api/field_filter.h"
#include "frontend/cloud/forwarding_handler.h"
#include "frontend/http/route.h"

namespace nereid::frontend::cloud {
namespace {

using base::Status;
using http::Endpoint;
using http::Exchange;
using http::Method;

constexpr std::string_view kService = "Vertex AI";

constexpr CloudRoute kRoutes[] = {
    {Method::kGet, "{AIP_HEALTH_ROUTE}", api::Operation::kServerReady},
    {Method::kPost, "{AIP_PREDICT_ROUTE}", api::Operation::kInfer},
};

/// Where a request goes.
struct Destination {
  enum class Kind { kUnknownPath, kKserve, kMetrics, kManagement };
  Kind kind = Kind::kUnknownPath;
  http::Route route = {};  // of KServe
  Method method = Method::kOther;
};

http::Route RouteTo(Endpoint endpoint, std::string_view model) {
  http::Route route;
  route.endpoint = endpoint;
  route.model = model;
  return route;
}

/// Returns the method of a redirected prediction: Vertex AI sends POST alone, also for what KServe
/// reads with GET.
Method MethodFor(const http::Route& route) {
  return http::SpecOf(route.endpoint).post ? Method::kPost : Method::kGet;
}

/// A client that may send predictions must not manage the server with them, whatever else it may.
bool IsManagement(const http::Route& route, Method method) {
  return api::IsManagement(http::SpecOf(route.endpoint).OperationOf(method));
}

class VertexAiHandler final : public ForwardingHandler {
 public:
  VertexAiHandler(VertexAiHandlerOptions options, api::InferenceService& service)
      : ForwardingHandler(http::MakeKserveHandler(options.kserve, service)),
        options_(std::move(options)) {
    if (options_.make_metrics) metrics_.emplace(options_.make_metrics, options_.kserve.gate);
  }

  void Handle(Exchange& exchange) override;
  bool MayReceiveBody(Exchange& exchange) override;
  http::BodyLimit LimitBody(Exchange& exchange) override;
  void Stop() override {
    if (metrics_) metrics_->Stop();
    ForwardingHandler::Stop();
  }

 private:
  Destination DestinationOf(Exchange& exchange) const;
  Destination Redirected(Exchange& exchange, std::string_view path) const;
  static void RefuseManagement(Exchange& exchange, const Destination& to);

  const VertexAiHandlerOptions options_;
  std::optional<metrics::MetricsPage> metrics_;  // none: metrics are off
};

Destination VertexAiHandler::DestinationOf(Exchange& exchange) const {
  using Kind = Destination::Kind;
  const http::RequestHead& head = exchange.head();
  if (head.path().text() == options_.health_route) {
    return {Kind::kKserve, RouteTo(Endpoint::kServerReady, {}), head.method};
  }
  if (head.path().text() != options_.predict_route) return {};
  const api::HeaderField* const to = api::FindField(head.fields, kVertexAiRedirectField);
  // Another method is refused as for a prediction.
  if (to != nullptr && head.method == Method::kPost) return Redirected(exchange, to->value);
  return {Kind::kKserve, RouteTo(Endpoint::kInfer, options_.default_model), head.method};
}

Destination VertexAiHandler::Redirected(Exchange& exchange, std::string_view path) const {
  using Kind = Destination::Kind;
  if (metrics_ && path == "metrics") return {Kind::kMetrics, {}, Method::kGet};
  if (path.find('?') != path.npos) return {};  // the redirection is to a path without a query
  const http::PathView target = exchange.Redirect("/" + std::string(path));
  const http::Route route = http::FindRoute(target);
  const bool is_v2 = http::PathSegments(target).TakeWord("v2");
  if (!is_v2 || route.endpoint == Endpoint::kUnknown) return {};
  const Method method = MethodFor(route);
  return {IsManagement(route, method) ? Kind::kManagement : Kind::kKserve, route, method};
}

void VertexAiHandler::RefuseManagement(Exchange& exchange, const Destination& to) {
  const api::Operation operation = http::SpecOf(to.route.endpoint).OperationOf(to.method);
  exchange.reply().SetError(403, http::kJsonType,
                            "the operation '" + std::string(api::FactsOf(operation).name) +
                                "' cannot be reached through " +
                                std::string(kVertexAiRedirectField));
}

bool VertexAiHandler::MayReceiveBody(Exchange& exchange) {
  const Destination to = DestinationOf(exchange);
  switch (to.kind) {
    case Destination::Kind::kKserve:
      return kserve().MayReceiveBodyAt(exchange, to.route, to.method);
    case Destination::Kind::kMetrics:
      return metrics_->Admits(exchange);
    case Destination::Kind::kManagement:
      RefuseManagement(exchange, to);
      return false;
    case Destination::Kind::kUnknownPath:
      break;
  }
  return true;
}

http::BodyLimit VertexAiHandler::LimitBody(Exchange& exchange) {
  if (!MayReceiveBody(exchange)) return {};  // which then refuses it
  const Destination to = DestinationOf(exchange);
  if (to.kind == Destination::Kind::kKserve) {
    return kserve().LimitBodyAt(exchange, to.route, to.method);
  }
  return http::LimitJsonBody(exchange.head(), options_.kserve.max_input_size);
}

void VertexAiHandler::Handle(Exchange& exchange) {
  http::LogRequest(exchange.head(), 0, kService);
  const Destination to = DestinationOf(exchange);
  switch (to.kind) {
    case Destination::Kind::kKserve:
      return kserve().Serve(exchange, to.route, to.method);
    case Destination::Kind::kMetrics:
      return metrics_->Admits(exchange) ? metrics_->Serve(exchange) : exchange.Finish();
    case Destination::Kind::kManagement:
      RefuseManagement(exchange, to);
      return exchange.Finish();
    case Destination::Kind::kUnknownPath:
      return RefusePath(exchange, kService);
  }
}

}  // namespace

std::span<const CloudRoute> AllVertexAiRoutes() { return kRoutes; }

base::Result<std::string> ChooseDefaultModel(api::InferenceService& service,
                                             const std::string& name) {
  NEREID_ASSIGN_OR_RETURN(const std::vector<api::RepositoryIndexEntry> entries,
                          service.GetRepositoryIndex(/*ready_only=*/true));
  std::set<std::string> ready;
  for (const api::RepositoryIndexEntry& entry : entries) ready.insert(entry.name);
  if (!name.empty()) {
    if (ready.contains(name)) return name;
    return Status::InvalidArgument("Expect the default model '" + name + "' is loaded");
  }
  if (ready.size() == 1) return *ready.begin();
  return Status::InvalidArgument(
      "Expect the model repository contains only a single model if default model is not specified. "
      "Ready models: " +
      std::to_string(ready.size()) + "; use --vertex-ai-default-model");
}

std::shared_ptr<http::HttpHandler> MakeVertexAiHandler(VertexAiHandlerOptions options,
                                                       api::InferenceService& service) {
  return std::make_shared<VertexAiHandler>(std::move(options), service);
}

}  // namespace nereid::frontend::cloud
