// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_route.h"

#include <gtest/gtest.h>

namespace nereid::frontend::cloud {
namespace {

using http::Method;

TEST(SagemakerRoute, Paths) {
  EXPECT_EQ(FindSagemakerPath("/ping").endpoint, SagemakerEndpoint::kPing);
  EXPECT_EQ(FindSagemakerPath("/invocations").endpoint, SagemakerEndpoint::kInvocations);
  EXPECT_EQ(FindSagemakerPath("/models").endpoint, SagemakerEndpoint::kModels);
  EXPECT_EQ(FindSagemakerPath("/models/").endpoint, SagemakerEndpoint::kModels);
  const SagemakerPath model = FindSagemakerPath("/models/a b");
  EXPECT_EQ(model.endpoint, SagemakerEndpoint::kModel);
  EXPECT_EQ(model.model, "a b");
  const SagemakerPath invoke = FindSagemakerPath("/models/invoke/invoke");
  EXPECT_EQ(invoke.endpoint, SagemakerEndpoint::kInvoke);
  EXPECT_EQ(invoke.model, "invoke");
  EXPECT_EQ(FindSagemakerPath("/models/invoke").endpoint, SagemakerEndpoint::kModel);
}

TEST(SagemakerRoute, UnknownPaths) {
  for (const char* path :
       {"", "/", "ping", "/ping/", "/Ping", "/pingx", "/invocations/", "/modelsx", "/models//",
        "/models//invoke", "/models/m/", "/models/m/invoke/", "/models/m/load", "/models/m/invokex",
        "/v2", "/v2/models/m/infer", "/metrics"}) {
    EXPECT_EQ(FindSagemakerPath(path).endpoint, SagemakerEndpoint::kUnknown) << path;
  }
}

TEST(SagemakerRoute, MethodsHaveOperations) {
  const auto operation = [](SagemakerEndpoint endpoint, Method method) {
    const SagemakerRoute* route = FindSagemakerRoute(endpoint, method);
    return route == nullptr ? "" : api::FactsOf(route->operation).name;
  };
  EXPECT_EQ(operation(SagemakerEndpoint::kPing, Method::kGet), "server-ready");
  EXPECT_EQ(operation(SagemakerEndpoint::kInvocations, Method::kPost), "infer");
  EXPECT_EQ(operation(SagemakerEndpoint::kModels, Method::kGet), "repository-index");
  EXPECT_EQ(operation(SagemakerEndpoint::kModels, Method::kPost), "model-load");
  EXPECT_EQ(operation(SagemakerEndpoint::kModel, Method::kDelete), "model-unload");
  EXPECT_EQ(operation(SagemakerEndpoint::kInvoke, Method::kPost), "infer");
  EXPECT_EQ(operation(SagemakerEndpoint::kModel, Method::kPost), "");
  EXPECT_EQ(operation(SagemakerEndpoint::kPing, Method::kOther), "");
}

}  // namespace
}  // namespace nereid::frontend::cloud
