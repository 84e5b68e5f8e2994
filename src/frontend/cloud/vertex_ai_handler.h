// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/cloud/cloud_route.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/metrics/metrics_page.h"

namespace nereid::frontend::cloud {

/// The media type of Vertex AI's requests with binary tensors; see HttpServerOptions::binary_type.
/// Its replies have the field Inference-Header-Content-Length.
inline constexpr std::string_view kVertexAiBinaryType =
    "application/vnd.vertex-ai-triton.binary+json";
/// A path that the request is for, without its leading slash. The server has to keep this field.
inline constexpr std::string_view kVertexAiRedirectField = "X-Vertex-Ai-Triton-Redirect";

/// Settings of the handler for Vertex AI.
struct VertexAiHandlerOptions {
  /// Those of inference.
  http::KserveOptions kserve;
  /// The paths of the two routes, which the platform chooses. They differ.
  std::string predict_route;
  std::string health_route;
  /// The model of predictions that are not redirected.
  std::string default_model;
  /// Makes the page for the redirection "metrics". Empty: there is none.
  metrics::MakePage make_metrics;
};

/// Returns the handler's routes. Predictions may be redirected to the paths of HTTP and to the page
/// of metrics, with their operations, unless only managers may call these.
std::span<const CloudRoute> AllVertexAiRoutes();

/// Returns the model for predictions that are not redirected: `name`, or, if that is empty, the
/// only model that is ready. INVALID_ARGUMENT, with Triton's text, if there is no such model.
/// Blocks while the repositories are read.
base::Result<std::string> ChooseDefaultModel(api::InferenceService& service,
                                             const std::string& name);

/// Makes a handler for the contract of Vertex AI: a route for health checks and one for
/// predictions. `service` must outlive it.
std::shared_ptr<http::HttpHandler> MakeVertexAiHandler(VertexAiHandlerOptions options,
                                                       api::InferenceService& service);

}  // namespace nereid::frontend::cloud
