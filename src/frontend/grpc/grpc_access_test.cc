// SPDX-License-Identifier: Apache-2.0
// Who may do what over gRPC: restrictions, roles, forwarded metadata.
#include <gtest/gtest.h>

#include <string>

#include "api/testing/role_tokens.h"
#include "frontend/grpc/method_table.h"
#include "frontend/grpc/testing/server_fixture.h"

namespace nereid::frontend::grpc {
namespace {

using testing::Frame;
using testing::Headers;
using testing::kModelInfer;
using testing::kModelStreamInfer;
using testing::kServerLive;
using testing::Reply;
using testing::TestClient;

constexpr int kPermissionDenied = 7;
constexpr int kUnauthenticated = 16;

class GrpcAccessTest : public testing::GrpcServerTest {
 protected:
  void StartWith(api::AccessRules rules, const std::string& pattern = "") {
    std::shared_ptr<const api::HeaderForwarding> forwarding;
    if (!pattern.empty()) forwarding = api::HeaderForwarding::Make(pattern).value();
    rules.restricted_word = "protocol";
    if (!rules.empty()) options_.gate = std::make_shared<const api::AccessGate>(std::move(rules));
    options_.kept_fields = api::MakeFieldFilter(options_.gate, forwarding);
    Start();
    client_ = std::make_unique<TestClient>(port());
  }

  Headers As(const char* role) { return {{"authorization", tokens_.Bearer(role)}}; }

  const api::testing::RoleTokens tokens_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(GrpcAccessTest, Restrictions) {
  StartWith({.restrictions = {{api::Category::kInference, "triton-grpc-protocol-key", "v"},
                              {api::Category::kHealth, "triton-grpc-protocol-key", "v"}}});
  for (const char* path : {kModelInfer, kModelStreamInfer, kServerLive,
                           "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"}) {
    const Reply refused = client_->Unary(path, "");
    EXPECT_EQ(refused.status(), 14) << path;
    EXPECT_EQ(refused.message(),
              "This protocol is restricted, expecting header 'triton-grpc-protocol-key'");
    EXPECT_EQ(client_->Unary(path, "", {{"triton-grpc-protocol-key", "V"}}).status(), 14) << path;
  }
  const Headers key = {{"triton-grpc-protocol-key", "v"}};
  EXPECT_EQ(client_->Unary(kServerLive, "", key).status(), 0);
  EXPECT_EQ(client_->Unary(kModelInfer, EchoRequest("x"), key).status(), 0);
  EXPECT_EQ(client_->Unary(kModelStreamInfer, EchoRequest("x"), key).status(), 0);
  EXPECT_EQ(client_->Unary("/inference.GRPCInferenceService/ServerMetadata", "").status(), 0);
}

// A stream is refused when it opens, before it carries a message.
TEST_F(GrpcAccessTest, AStreamIsRefusedAtOnce) {
  StartWith({.file = tokens_.file()});
  const int32_t stream = client_->Open(kModelStreamInfer);
  EXPECT_EQ(client_->Finish(stream).status(), kUnauthenticated);
}

TEST_F(GrpcAccessTest, Roles) {
  StartWith({.file = tokens_.file()});
  EXPECT_EQ(client_->Unary(kServerLive, "").status(), 0);
  const Reply nobody = client_->Unary(kModelInfer, EchoRequest("x"));
  EXPECT_EQ(nobody.status(), kUnauthenticated);
  EXPECT_EQ(nobody.message(),
            "this operation needs one of the roles 'infer' or 'manage': send a valid token as "
            "'Authorization: Bearer <token>'");
  EXPECT_EQ(client_->Unary(kModelInfer, EchoRequest("x"), As("infer")).status(), 0);
  EXPECT_EQ(client_->Unary(kModelInfer, EchoRequest("x"), As("observe")).status(),
            kPermissionDenied);
}

TEST_F(GrpcAccessTest, EveryMethodIsClosedToNobody) {
  StartWith({.file = tokens_.file(), .protects_health = true});
  for (const MethodSpec& spec : AllMethods()) {
    EXPECT_EQ(client_->Unary(std::string(spec.path), "").status(), kUnauthenticated) << spec.path;
  }
}

// Whether a message changes settings is known only when it is decoded.
TEST_F(GrpcAccessTest, ChangesNeedMoreThanReading) {
  StartWith({.file = tokens_.file()});
  const std::string path = "/inference.GRPCInferenceService/LogSettings";
  inference::LogSettingsRequest change;
  (*change.mutable_settings())["log_verbose_level"].set_uint32_param(0);
  EXPECT_EQ(client_->Unary(path, "", As("infer")).status(), kPermissionDenied);
  EXPECT_EQ(client_->Unary(path, "", As("observe")).status(), 0);
  const Reply refused = client_->Unary(path, change.SerializeAsString(), As("observe"));
  EXPECT_EQ(refused.status(), kPermissionDenied);
  EXPECT_EQ(refused.message(), "this operation needs the role 'manage'");
  EXPECT_EQ(client_->Unary(path, change.SerializeAsString(), As("manage")).status(), 0);
}

TEST_F(GrpcAccessTest, ManagementElsewhere) {
  StartWith({.serves_management = false});
  inference::TraceSettingRequest change;
  (*change.mutable_settings())["trace_rate"].add_value("1");
  const std::string service = "/inference.GRPCInferenceService/";
  EXPECT_EQ(client_->Unary(service + "RepositoryModelLoad", "").status(), kPermissionDenied);
  EXPECT_EQ(client_->Unary(service + "RepositoryIndex", "").status(), 0);
  EXPECT_EQ(client_->Unary(service + "TraceSetting", change.SerializeAsString()).status(),
            kPermissionDenied);
  EXPECT_EQ(client_->Unary(kModelInfer, EchoRequest("x")).status(), 0);
}

TEST_F(GrpcAccessTest, MetadataIsForwardedToModels) {
  std::vector<request::Parameter> got;
  service_.handler = [&](std::unique_ptr<request::InferenceRequest> request) {
    got = request->parameters;
    api::testing::FakeInferenceService::Echo(std::move(request));
  };
  StartWith({.file = tokens_.file()}, "X-|auth|grpc|type");
  Headers headers = As("infer");
  headers.push_back({"x-one", "1"});
  headers.push_back({"other", "2"});
  for (const char* path : {kModelInfer, kModelStreamInfer}) {
    got.clear();
    EXPECT_EQ(client_->Unary(path, EchoRequest("x"), headers).status(), 0);
    ASSERT_EQ(got.size(), 1u) << path;
    EXPECT_EQ(got[0].name, "x-one");
    EXPECT_EQ(std::get<std::string>(got[0].value), "1");
  }
}

TEST_F(GrpcAccessTest, ReservedAndTooManyFieldsAreRefused) {
  StartWith({}, "^x-|^timeout$");
  const Reply reserved = client_->Unary(kModelInfer, EchoRequest("x"), {{"timeout", "5"}});
  EXPECT_EQ(reserved.status(), 3);
  EXPECT_EQ(reserved.message(),
            "Header 'timeout' is reserved for Triton usage and cannot be forwarded.");
  Headers many;
  for (int i = 0; i < 130; ++i) many.push_back({"x-" + std::to_string(i), ""});
  EXPECT_EQ(client_->Unary(kModelInfer, EchoRequest("x"), many).status(), 8);
  ExpectAlive();
}

}  // namespace
}  // namespace nereid::frontend::grpc
