// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "api/model_directories.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/http/route.h"

namespace nereid::frontend::cloud {

/// The media type of SageMaker's messages with binary tensors; see HttpServerOptions::binary_type.
inline constexpr std::string_view kSagemakerBinaryType =
    "application/vnd.sagemaker-triton.binary+json";
/// The name that the client gave to InvokeEndpoint, for logs. The server has to keep this field.
inline constexpr std::string_view kSagemakerTargetField = "X-Amzn-SageMaker-Target-Model";

/// Settings of the handler for SageMaker.
struct SagemakerHandlerOptions {
  /// Those of inference. `binary_type` is set by MakeSagemakerHandler.
  http::KserveOptions kserve;
  /// What GET /ping asks: kServerReady or kServerLive.
  http::Endpoint ping = http::Endpoint::kServerReady;
  /// What POST /invocations does: kInfer, kGenerate or kGenerateStream.
  http::Endpoint invocations = http::Endpoint::kInfer;
  /// The model of POST /invocations.
  std::string default_model;
  /// See SagemakerModels::Options.
  std::vector<std::string> roots;
};

/// Makes a handler for SageMaker's contract: GET /ping, POST /invocations, and /models for
/// multi-model endpoints. `service` and `directories` must outlive it.
std::shared_ptr<http::HttpHandler> MakeSagemakerHandler(SagemakerHandlerOptions options,
                                                        api::InferenceService& service,
                                                        api::ModelDirectories& directories);

}  // namespace nereid::frontend::cloud
