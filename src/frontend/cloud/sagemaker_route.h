// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "frontend/cloud/cloud_route.h"
#include "frontend/http/request_path.h"

namespace nereid::frontend::cloud {

enum class SagemakerEndpoint {
  kUnknown,
  kPing,
  kInvocations,
  kModels,
  kModel,
  kInvoke,
};

/// The endpoint and the name in a path. `model` is a part of the path.
struct SagemakerPath {
  SagemakerEndpoint endpoint = SagemakerEndpoint::kUnknown;
  std::string_view model;
};

/// Finds the endpoint of a path without its query.
SagemakerPath FindSagemakerPath(const http::PathView& path);

struct SagemakerRoute : CloudRoute {
  SagemakerEndpoint endpoint;
};

/// Returns all routes.
std::span<const SagemakerRoute> AllSagemakerRoutes();

/// Returns the route of an endpoint's method, or null: a wrong method. HEAD has the route of GET.
const SagemakerRoute* FindSagemakerRoute(SagemakerEndpoint endpoint, http::Method method);

}  // namespace nereid::frontend::cloud
