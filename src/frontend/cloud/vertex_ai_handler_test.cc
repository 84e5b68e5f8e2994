// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/vertex_ai_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/field_filter.h"
#include "api/testing/role_tokens.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::frontend::cloud {
namespace {

using http::testing::Get;
using http::testing::kJson;
using http::testing::kJsonAnswer;
using http::testing::Post;
using http::testing::RawResponse;
using ::testing::HasSubstr;

class VertexAiHandlerTest : public http::testing::ServerFixture {
 protected:
  VertexAiHandlerTest() : ServerFixture(1) {
    options_.binary_type = kVertexAiBinaryType;
    vertex_.predict_route = "/predict";
    vertex_.health_route = "/health";
    vertex_.default_model = "echo";
    vertex_.make_metrics = [](telemetry::Exposition) { return std::string("nv_x 1\n"); };
  }
  void StartVertex() {
    options_.kept_fields =
        api::MakeFieldFilter(vertex_.kserve.gate, nullptr, {std::string(kVertexAiRedirectField)});
    Start(MakeVertexAiHandler(vertex_, service_));
  }
  RawResponse Redirect(const std::string& to, const std::string& body = "",
                       const std::string& fields = "") {
    return Ask(Post("/predict", body, "x-vertex-ai-triton-redirect: " + to + "\r\n" + fields));
  }

  VertexAiHandlerOptions vertex_;
};

TEST_F(VertexAiHandlerTest, HealthAndPredictions) {
  service_.ready = false;
  StartVertex();
  EXPECT_EQ(Ask(Get("/health")).status, 400);
  service_.ready = true;
  EXPECT_EQ(Ask(Get("/health")).status, 200);
  EXPECT_EQ(Ask(Post("/health", "")).status, 405);
  EXPECT_EQ(Ask(Post("/predict", kJson)).body, kJsonAnswer);
  EXPECT_EQ(Ask(Get("/predict")).status, 405);
  for (const char* path : {"/", "/v2", "/predict/", "/v2/models/echo/infer", "/metrics"}) {
    const RawResponse reply = Ask(Get(path));
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_EQ(reply.body, "");
  }
}

TEST_F(VertexAiHandlerTest, TheContentTypeSaysWhereTheBinaryPartBegins) {
  StartVertex();
  const std::string json =
      R"({"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32",)"
      R"("parameters":{"binary_data_size":4}}],"parameters":{"binary_data_output":true}})";
  const std::string field = "Content-Type: " + std::string(kVertexAiBinaryType) +
                            ";json-header-size=" + std::to_string(json.size()) + "\r\n";
  for (const RawResponse& reply : {Ask(Post("/predict", json + "abcd", field)),
                                   Redirect("v2/models/echo/infer", json + "abcd", field)}) {
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.Field("Content-Type"), "application/octet-stream");
    EXPECT_EQ(reply.Field("Inference-Header-Content-Length"),
              std::to_string(reply.body.size() - 4));
    EXPECT_EQ(reply.body.substr(reply.body.size() - 4), "abcd");
  }
}

TEST_F(VertexAiHandlerTest, RedirectionsReachWhatReads) {
  StartVertex();
  EXPECT_THAT(Redirect("v2").body, HasSubstr(R"("name":"triton")"));
  EXPECT_THAT(Redirect("v2/models/echo").body, HasSubstr(R"("name":"echo")"));
  EXPECT_EQ(Redirect("v2/health/live").status, 200);
  EXPECT_EQ(Redirect("v2/models/echo/versions/1/ready").status, 200);
  EXPECT_THAT(Redirect("v2/models/stats").body, HasSubstr("model_stats"));
  EXPECT_THAT(Redirect("v2/repository/index").body, HasSubstr(R"("name":"echo")"));
  EXPECT_EQ(Redirect("v2/systemsharedmemory/status").status, 200);
  EXPECT_EQ(Redirect("v2/models/echo/infer", kJson).body, kJsonAnswer);
  EXPECT_EQ(Redirect("v2/models/echo/generate", R"({"INPUT0":[1.5]})").status, 200);
  EXPECT_EQ(Redirect("metrics").body, "nv_x 1\n");
  EXPECT_EQ(Ask(Get("/predict", "X-Vertex-Ai-Triton-Redirect: v2\r\n")).status, 405);
  for (const char* to : {"", "v", "v1/models/echo", "/v2", "v2x", "v2?x", "v2/nothing", "metrics/",
                         "health", "predict"}) {
    EXPECT_EQ(Redirect(to).status, 400) << to;
  }
  EXPECT_EQ(Redirect("v2/models/absent/infer").status, 404);
}

TEST_F(VertexAiHandlerTest, RedirectionsDoNotManage) {
  service_.on_load = [](const auto&, const auto&) { FAIL(); };
  service_.on_unload = [](const auto&, bool) { FAIL(); };
  StartVertex();
  for (const char* to :
       {"v2/repository/models/echo/load", "v2/repository/r/models/echo/unload",
        "v2/systemsharedmemory/region/r/register", "v2/systemsharedmemory/unregister",
        "v2/cudasharedmemory/region/r/unregister", "v2/trace/setting", "v2/logging",
        "v2/models/echo/trace/setting"}) {
    const RawResponse reply = Redirect(to, "{}");
    EXPECT_EQ(reply.status, 403) << to;
    EXPECT_THAT(reply.body, HasSubstr("cannot be reached through X-Vertex-Ai-Triton-Redirect"));
    EXPECT_EQ(Redirect(to, std::string(70'000, ' ')).status, 403) << to;
  }
  EXPECT_EQ(Redirect("v2/repository/models/echo/load", "{}").body,
            R"({"error":"the operation 'model-load' cannot be reached through )"
            R"(X-Vertex-Ai-Triton-Redirect"})");
}

TEST_F(VertexAiHandlerTest, WithoutMetricsThereIsNoPage) {
  vertex_.make_metrics = nullptr;
  StartVertex();
  EXPECT_EQ(Redirect("metrics").status, 400);
}

TEST_F(VertexAiHandlerTest, RedirectionsNeedTheRoleOfTheirOperation) {
  const api::testing::RoleTokens tokens;
  vertex_.kserve.gate =
      std::make_shared<const api::AccessGate>(api::AccessRules{.file = tokens.file()});
  StartVertex();
  const auto status = [&](const std::string& to, const std::string& role) {
    const std::string field = role.empty() ? "" : "Authorization: " + tokens.Bearer(role) + "\r\n";
    if (to.empty()) return Ask(Post("/predict", kJson, field)).status;
    return Redirect(to, kJson, field).status;
  };
  EXPECT_EQ(Ask(Get("/health")).status, 200);
  for (const char* to : {"", "v2/models/echo/infer"}) {
    EXPECT_EQ(status(to, ""), 401) << to;
    EXPECT_EQ(status(to, "observe"), 403) << to;
    EXPECT_EQ(status(to, "infer"), 200) << to;
  }
  for (const char* to : {"v2/models/stats", "metrics", "v2/repository/index"}) {
    EXPECT_EQ(status(to, ""), 401) << to;
    EXPECT_EQ(status(to, "infer"), 403) << to;
    EXPECT_EQ(status(to, "observe"), 200) << to;
  }
  EXPECT_EQ(status("v2/logging", "manage"), 403);
}

TEST(ChooseDefaultModel, IsReady) {
  api::testing::FakeInferenceService service;
  EXPECT_EQ(*ChooseDefaultModel(service, ""), "echo");
  EXPECT_EQ(*ChooseDefaultModel(service, "echo"), "echo");
  EXPECT_EQ(ChooseDefaultModel(service, "old").status().message(),
            "Expect the default model 'old' is loaded");
  service.index = {{"a", "1", "READY", ""}, {"a", "2", "READY", ""}};
  EXPECT_EQ(*ChooseDefaultModel(service, ""), "a");
  service.index.push_back({"b", "1", "READY", ""});
  EXPECT_EQ(*ChooseDefaultModel(service, "b"), "b");
  EXPECT_THAT(ChooseDefaultModel(service, "").status().message(), HasSubstr("Ready models: 2"));
  service.index.clear();
  EXPECT_FALSE(ChooseDefaultModel(service, "").ok());
}

}  // namespace
}  // namespace nereid::frontend::cloud
