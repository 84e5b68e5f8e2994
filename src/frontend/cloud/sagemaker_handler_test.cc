// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "api/field_filter.h"
#include "api/testing/role_tokens.h"
#include "base/temporary_directory.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::frontend::cloud {
namespace {

using api::testing::FakeInferenceService;
using base::Status;
using http::testing::Get;
using http::testing::kJson;
using http::testing::kJsonAnswer;
using http::testing::Post;
using http::testing::RawResponse;
using ::testing::HasSubstr;

class FakeDirectories final : public api::ModelDirectories {
 public:
  base::Result<std::string> Add(const std::string& directory, const std::string&) override {
    return directory;
  }
  Status Remove(const std::string&) override { return Status::Ok(); }
};

class SagemakerHandlerTest : public http::testing::ServerFixture {
 protected:
  SagemakerHandlerTest() : ServerFixture(1) {
    options_.binary_type = kSagemakerBinaryType;
    sagemaker_.default_model = "echo";
  }
  void SetUp() override {
    auto directory = base::TemporaryDirectory::Create();
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    directory_ = std::move(directory).value();
    sagemaker_.roots = {directory_->path()};
    std::filesystem::create_directories(directory_->path() + "/m/model");
    service_.on_load = [this](const std::string& name, const auto&) {
      if (service_.load_result.ok()) service_.models[name] = service_.models["echo"];
    };
    service_.on_unload = [this](const std::string& name, bool) { service_.models.erase(name); };
  }
  void StartSagemaker() { Start(MakeSagemakerHandler(sagemaker_, service_, directories_)); }
  std::string LoadBody(const std::string& name) {
    return R"({"model_name":")" + name + R"(","url":")" + Url(name) + R"("})";
  }
  std::string Url(const std::string& name) { return directory_->path() + "/" + name + "/model"; }
  static std::string Delete(const std::string& path) {
    return "DELETE " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  FakeDirectories directories_;
  SagemakerHandlerOptions sagemaker_;
};

TEST_F(SagemakerHandlerTest, PingAsksForReadiness) {
  service_.ready = false;
  StartSagemaker();
  EXPECT_EQ(Ask(Get("/ping")).status, 400);
  service_.ready = true;
  EXPECT_EQ(Ask(Get("/ping")).status, 200);
  EXPECT_EQ(Ask(Post("/ping", "")).status, 405);
}

TEST_F(SagemakerHandlerTest, PingMayAskForLiveness) {
  service_.ready = false;
  sagemaker_.ping = http::Endpoint::kServerLive;
  StartSagemaker();
  EXPECT_EQ(Ask(Get("/ping")).status, 200);
  service_.live = false;
  EXPECT_EQ(Ask(Get("/ping")).status, 400);
}

TEST_F(SagemakerHandlerTest, InvocationsInferWithTheDefaultModel) {
  StartSagemaker();
  const RawResponse reply = Ask(Post("/invocations", kJson));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, kJsonAnswer);
  EXPECT_EQ(Ask(Get("/invocations")).status, 405);
}

TEST_F(SagemakerHandlerTest, TheContentTypeSaysWhereTheBinaryPartBegins) {
  StartSagemaker();
  const std::string json =
      R"({"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32",)"
      R"("parameters":{"binary_data_size":4}}],"parameters":{"binary_data_output":true}})";
  const std::string size = std::to_string(json.size());
  const std::string type = "Content-Type: " + std::string(kSagemakerBinaryType);
  for (const std::string& field :
       {type + ";json-header-size=" + size, type + "; charset=x; JSON-Header-Size = " + size}) {
    const RawResponse reply = Ask(Post("/invocations", json + "abcd", field + "\r\n"));
    ASSERT_EQ(reply.status, 200) << reply.body;
    const std::string head = reply.body.substr(0, reply.body.size() - 4);
    EXPECT_EQ(reply.Field("Content-Type"), std::string(kSagemakerBinaryType) +
                                               ";json-header-size=" + std::to_string(head.size()));
    EXPECT_EQ(reply.Field("Inference-Header-Content-Length"), "");
    EXPECT_EQ(reply.body.substr(head.size()), "abcd");
  }
  for (const auto& [text, error] :
       {std::pair("x", "Unable to parse inference header size, got: x"),
        std::pair("", "Unable to parse inference header size, got: "),
        std::pair("-1", "inference header size should be in range"),
        std::pair("99999", "inference header size should be in range"),
        std::pair("9999999999999999999999", "Unable to parse inference header size")}) {
    const RawResponse reply =
        Ask(Post("/invocations", json + "abcd", type + ";json-header-size=" + text + "\r\n"));
    EXPECT_EQ(reply.status, 400) << text;
    EXPECT_THAT(reply.body, HasSubstr(error));
  }
}

TEST_F(SagemakerHandlerTest, InvocationsMayGenerate) {
  sagemaker_.invocations = http::Endpoint::kGenerate;
  StartSagemaker();
  const RawResponse reply = Ask(Post("/invocations", R"({"INPUT0":[1.5]})"));
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr(R"("OUTPUT0":1.5)"));
}

TEST_F(SagemakerHandlerTest, MissingMemoryIs507) {
  StartSagemaker();
  service_.handler = [](auto request) {
    FakeInferenceService::Fail(std::move(request), Status::Internal("x: CUDA out of memory. y"));
  };
  const RawResponse reply = Ask(Post("/invocations", kJson));
  EXPECT_EQ(reply.status, 507);
  EXPECT_EQ(reply.body, R"({"error":"x: CUDA out of memory. y"})");
  service_.load_result = Status::Internal("Failed to allocate memory for requested buffer");
  EXPECT_EQ(Ask(Post("/models", LoadBody("m"))).status, 507);
}

TEST_F(SagemakerHandlerTest, LoadsListsInvokesAndUnloads) {
  StartSagemaker();
  EXPECT_EQ(Ask(Get("/models")).body, R"({"models":[]})");
  const RawResponse loaded = Ask(Post("/models", LoadBody("m")));
  EXPECT_EQ(loaded.status, 200) << loaded.body;
  EXPECT_EQ(Ask(Post("/models", LoadBody("m"))).status, 409);
  const std::string model = R"({"modelName":"m","modelUrl":")" + Url("m") + R"("})";
  EXPECT_EQ(Ask(Get("/models?x=1&next_page_token=")).body, R"({"models":[)" + model + "]}");
  EXPECT_EQ(Ask(Get("/models/m")).body, model);
  const RawResponse invoked = Ask(Post("/models/m/invoke", kJson));
  EXPECT_EQ(invoked.status, 200);
  EXPECT_THAT(invoked.body, HasSubstr(R"("model_name":"m")"));
  EXPECT_EQ(Ask(Delete("/models/m")).status, 200);
  EXPECT_EQ(Ask(Delete("/models/m")).status, 404);
  EXPECT_EQ(Ask(Get("/models/m")).status, 404);
  EXPECT_EQ(Ask(Post("/models/m/invoke", kJson)).status, 404);
}

TEST_F(SagemakerHandlerTest, WrongRequestsAreRefused) {
  StartSagemaker();
  for (const char* path : {"/", "/v2", "/models/m/other", "/metrics"}) {
    const RawResponse reply = Ask(Get(path));
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_EQ(reply.body, "");
  }
  EXPECT_EQ(Ask(Post("/models", "{")).status, 400);
  EXPECT_EQ(Ask(Post("/models/echo/invoke", kJson)).status, 404);  // was not loaded here
  EXPECT_EQ(Ask(Post("/models", "{}")).status, 400);
  EXPECT_EQ(Ask(Post("/models", R"({"model_name":"m","url":"/etc"})")).status, 400);
  EXPECT_EQ(Ask(Post("/models", std::string(70'000, ' '))).status, 413);
  EXPECT_EQ(Ask(Post("/models/m", "")).status, 405);
  EXPECT_EQ(Ask(Delete("/models")).status, 405);
  EXPECT_EQ(Ask(Get("/models/m/invoke")).status, 405);
  EXPECT_EQ(Ask(Get("/models?next_page_token=x")).status, 400);
}

TEST_F(SagemakerHandlerTest, EveryRouteAsksForItsRole) {
  const api::testing::RoleTokens tokens;
  sagemaker_.kserve.gate =
      std::make_shared<const api::AccessGate>(api::AccessRules{.file = tokens.file()});
  options_.kept_fields =
      api::MakeFieldFilter(sagemaker_.kserve.gate, nullptr, {std::string(kSagemakerTargetField)});
  StartSagemaker();
  const auto status = [&](const std::string& request, const std::string& role) {
    std::string with_token = request;
    with_token.insert(with_token.find("\r\n") + 2,
                      role.empty() ? "" : "Authorization: " + tokens.Bearer(role) + "\r\n");
    return Ask(with_token).status;
  };
  const std::string large(70'000, ' ');  // is refused before it is received
  EXPECT_EQ(status(Get("/ping"), ""), 200);
  for (const std::string& request :
       {Post("/invocations", kJson), Post("/models/echo/invoke", kJson),
        Post("/invocations", large)}) {
    EXPECT_EQ(status(request, ""), 401);
    EXPECT_EQ(status(request, "observe"), 403);
  }
  EXPECT_EQ(status(Post("/invocations", kJson), "infer"), 200);
  for (const std::string& request :
       {Post("/models", "{}"), Post("/models", large), Delete("/models/m")}) {
    EXPECT_EQ(status(request, ""), 401);
    EXPECT_EQ(status(request, "infer"), 403);
    EXPECT_EQ(status(request, "observe"), 403);
  }
  EXPECT_EQ(status(Delete("/models/m"), "manage"), 404);
  for (const char* path : {"/models", "/models/m"}) {
    EXPECT_EQ(status(Get(path), ""), 401);
    EXPECT_EQ(status(Get(path), "infer"), 403);
  }
  EXPECT_EQ(status(Get("/models"), "observe"), 200);
}

}  // namespace
}  // namespace nereid::frontend::cloud
