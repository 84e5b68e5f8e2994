// SPDX-License-Identifier: Apache-2.0
#include "app/cloud_handlers.h"

#include <string>
#include <utility>

#include "frontend/cloud/sagemaker_handler.h"
#include "frontend/cloud/vertex_ai_handler.h"
#include "server/inference_server.h"
#include "server/repository_control.h"

namespace nereid::app {

using base::Status;
using frontend::http::Endpoint;

namespace {

/// Where SageMaker unpacks the models of multi-model endpoints.
constexpr char kSagemakerModels[] = "/opt/ml/models";

/// The name that Triton looks for, so that its error says what to do.
constexpr char kNoDefaultModel[] = "unspecified_SAGEMAKER_TRITON_DEFAULT_MODEL_NAME";

Endpoint From(SagemakerPing ping) {
  return ping == SagemakerPing::kLive ? Endpoint::kServerLive : Endpoint::kServerReady;
}

Endpoint From(SagemakerInference inference) {
  switch (inference) {
    case SagemakerInference::kInfer:
      return Endpoint::kInfer;
    case SagemakerInference::kGenerate:
      return Endpoint::kGenerate;
    case SagemakerInference::kGenerateStream:
      return Endpoint::kGenerateStream;
  }
  return Endpoint::kInfer;
}

Status CheckRoutes(const VertexAiOptions& options) {
  const std::pair<const char*, const std::string&> routes[] = {
      {"AIP_PREDICT_ROUTE", options.predict_route}, {"AIP_HEALTH_ROUTE", options.health_route}};
  for (const auto& [name, route] : routes) {
    if (route.empty()) {
      return Status::InvalidArgument(std::string(name) + " is not defined for Vertex AI endpoint");
    }
    if (!route.starts_with('/')) {
      return Status::InvalidArgument(std::string(name) + " must be a path that begins with '/'. " +
                                     "Got " + route);
    }
  }
  if (options.predict_route != options.health_route) return Status::Ok();
  return Status::InvalidArgument("AIP_PREDICT_ROUTE and AIP_HEALTH_ROUTE must differ. Both are " +
                                 options.predict_route);
}

}  // namespace

std::shared_ptr<frontend::http::HttpHandler> MakeSagemaker(const ServerOptions& options,
                                                           frontend::http::KserveOptions kserve,
                                                           server::InferenceServer& server) {
  frontend::cloud::SagemakerHandlerOptions from;
  from.kserve = std::move(kserve);
  from.ping = From(options.sagemaker.ping);
  from.invocations = From(options.sagemaker.inference);
  from.default_model =
      options.sagemaker.default_model.empty() ? kNoDefaultModel : options.sagemaker.default_model;
  from.roots.assign(options.repository.paths.begin(), options.repository.paths.end());
  from.roots.emplace_back(kSagemakerModels);
  return frontend::cloud::MakeSagemakerHandler(std::move(from), server, server.repositories());
}

base::Result<std::shared_ptr<frontend::http::HttpHandler>> MakeVertexAi(
    const ServerOptions& options, frontend::http::KserveOptions kserve,
    server::InferenceServer& server) {
  NEREID_RETURN_IF_ERROR(CheckRoutes(options.vertex_ai));
  frontend::cloud::VertexAiHandlerOptions from;
  from.kserve = std::move(kserve);
  from.predict_route = options.vertex_ai.predict_route;
  from.health_route = options.vertex_ai.health_route;
  NEREID_ASSIGN_OR_RETURN(from.default_model, frontend::cloud::ChooseDefaultModel(
                                                  server, options.vertex_ai.default_model));
  if (options.metrics.enabled) {
    from.make_metrics = [&server](telemetry::Exposition format) {
      return server.RenderMetrics(format);
    };
  }
  return frontend::cloud::MakeVertexAiHandler(std::move(from), server);
}

}  // namespace nereid::app
