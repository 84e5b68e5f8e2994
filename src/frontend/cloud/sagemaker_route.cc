// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_route.h"

namespace nereid::frontend::cloud {
namespace {

using api::Operation;
using http::Method;

constexpr SagemakerRoute kRoutes[] = {
    {{Method::kGet, "/ping", Operation::kServerReady}, SagemakerEndpoint::kPing},
    {{Method::kPost, "/invocations", Operation::kInfer}, SagemakerEndpoint::kInvocations},
    {{Method::kGet, "/models", Operation::kRepositoryIndex}, SagemakerEndpoint::kModels},
    {{Method::kPost, "/models", Operation::kModelLoad}, SagemakerEndpoint::kModels},
    {{Method::kGet, "/models/{model}", Operation::kRepositoryIndex}, SagemakerEndpoint::kModel},
    {{Method::kDelete, "/models/{model}", Operation::kModelUnload}, SagemakerEndpoint::kModel},
    {{Method::kPost, "/models/{model}/invoke", Operation::kInfer}, SagemakerEndpoint::kInvoke},
};

}  // namespace

SagemakerPath FindSagemakerPath(const http::PathView& path) {
  http::PathSegments segments(path);
  const std::string_view word = segments.Take();
  if (word == "ping" && segments.done()) return {SagemakerEndpoint::kPing, {}};
  if (word == "invocations" && segments.done()) return {SagemakerEndpoint::kInvocations, {}};
  if (word != "models") return {};
  const bool is_list = segments.done() || path.text() == "/models/";  // Triton's
  if (is_list) return {SagemakerEndpoint::kModels, {}};
  const std::string_view model = segments.Take();
  if (model.empty()) return {};
  if (segments.done()) return {SagemakerEndpoint::kModel, model};
  if (!segments.TakeWord("invoke") || !segments.done()) return {};
  return {SagemakerEndpoint::kInvoke, model};
}

std::span<const SagemakerRoute> AllSagemakerRoutes() { return kRoutes; }

const SagemakerRoute* FindSagemakerRoute(SagemakerEndpoint endpoint, http::Method method) {
  for (const SagemakerRoute& route : kRoutes) {
    const bool is_same =
        route.method == method || (http::IsRead(route.method) && http::IsRead(method));
    if (route.endpoint == endpoint && is_same) return &route;
  }
  return nullptr;
}

}  // namespace nereid::frontend::cloud
