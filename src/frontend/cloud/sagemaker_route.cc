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

constexpr std::string_view kModels = "/models";
constexpr std::string_view kInvoke = "/invoke";

}  // namespace

SagemakerPath FindSagemakerPath(std::string_view path) {
  if (path == "/ping") return {SagemakerEndpoint::kPing, {}};
  if (path == "/invocations") return {SagemakerEndpoint::kInvocations, {}};
  if (path == kModels) return {SagemakerEndpoint::kModels, {}};
  if (!path.starts_with("/models/")) return {};
  std::string_view rest = path.substr(kModels.size() + 1);
  if (rest.empty()) return {SagemakerEndpoint::kModels, {}};  // Triton's: a slash at the end
  const size_t end = rest.find('/');
  const std::string_view model = rest.substr(0, end);
  if (model.empty()) return {};
  if (end == std::string_view::npos) return {SagemakerEndpoint::kModel, model};
  if (rest.substr(end) != kInvoke) return {};
  return {SagemakerEndpoint::kInvoke, model};
}

std::span<const SagemakerRoute> AllSagemakerRoutes() { return kRoutes; }

const SagemakerRoute* FindSagemakerRoute(SagemakerEndpoint endpoint, http::Method method) {
  for (const SagemakerRoute& route : kRoutes) {
    if (route.endpoint == endpoint && route.method == method) return &route;
  }
  return nullptr;
}

}  // namespace nereid::frontend::cloud
