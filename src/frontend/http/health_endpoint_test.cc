// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/health_endpoint.h"

#include <gtest/gtest.h>

#include "api/testing/fake_health.h"
#include "api/testing/role_tokens.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::frontend::http {
namespace {

using testing::Get;
using testing::Post;
using testing::RawResponse;

TEST(AsksForReasons, OnlyWithTheParameter) {
  const auto asks = [](const char* target) {
    RequestHead head;
    head.target = target;
    return AsksForReasons(head);
  };
  for (const char* target : {"/v2/health/ready?reason=true", "/?a&reason=true", "/?reason=true&b",
                             "/?a=b&&reason=true&"}) {
    EXPECT_TRUE(asks(target)) << target;
  }
  for (const char* target : {"", "/v2/health/ready", "/?", "/?&", "/?reason", "/?reason=false",
                             "/?xreason=true", "/?reason=true1", "/reason=true"}) {
    EXPECT_FALSE(asks(target)) << target;
  }
}

class HealthEndpointTest : public testing::ServerFixture {
 protected:
  HealthEndpointTest() : ServerFixture(1) { service_.health_reports = &health_; }

  static std::string Delete(const std::string& path) {
    return "DELETE " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  void Expect(const std::string& request, int status, const std::string& body) {
    const RawResponse response = Ask(request);
    EXPECT_EQ(response.status, status) << request;
    EXPECT_EQ(response.body, body) << request;
    EXPECT_EQ(response.Field("Content-Type"), "application/json") << request;
  }

  api::testing::FakeHealth health_;
};

TEST_F(HealthEndpointTest, WithoutTheQueryNothingChanges) {
  service_.ready = false;
  Start();
  const RawResponse plain = Ask(Get("/v2/health/ready"));
  EXPECT_EQ(plain.status, 400);
  EXPECT_EQ(plain.body, "");
  const RawResponse accepts = Ask(Get("/v2/health/ready", "Accept: application/json\r\n"));
  EXPECT_EQ(accepts.status, 400);
  EXPECT_EQ(accepts.body, "");
  EXPECT_EQ(accepts.Field("Content-Type"), plain.Field("Content-Type"));
}

TEST_F(HealthEndpointTest, Reasons) {
  Start();
  Expect(Get("/v2/health/ready?reason=true"), 200, R"({"ready":true,"reasons":[],"omitted":0})");
  AddReason({.cause = "draining", .text = "why"}, &health_.server);
  Expect(Get("/v2/health/ready?reason=true"), 400,
         R"({"ready":false,"reasons":[{"cause":"draining","text":"why"}],"omitted":0})");
}

TEST_F(HealthEndpointTest, ReasonsOfLiveness) {
  Start();
  Expect(Get("/v2/health/live?reason=true"), 200, R"({"live":true,"reasons":[],"omitted":0})");
  health_.live = {.live = false, .findings = {{.cause = "failed", .text = "why"}}};
  Expect(Get("/v2/health/live?reason=true"), 400,
         R"({"live":false,"reasons":[{"cause":"failed","text":"why"}],"omitted":0})");
  EXPECT_EQ(Ask(Get("/v2/health/live")).status, 200);  // the fake service answers for itself
}

TEST_F(HealthEndpointTest, ReasonsOfAModel) {
  Start();
  Expect(Get("/v2/models/m/versions/3/ready?reason=true"), 200,
         R"({"ready":true,"reasons":[],"omitted":0})");
  EXPECT_EQ(health_.asked, "m:3");
  AddReason({.cause = "model", .model = "m"}, &health_.model);
  Expect(Get("/v2/models/m/ready?reason=true"), 400,
         R"({"ready":false,"reasons":[{"cause":"model","model":"m"}],"omitted":0})");
  EXPECT_EQ(health_.asked, "m:-1");
  health_.model.status = base::Status::Unavailable("Server not ready");
  EXPECT_EQ(Ask(Get("/v2/models/m/ready?reason=true")).status, 503);
  EXPECT_EQ(Ask(Get("/v2/models/m/versions/99999999999999999999/ready?reason=true")).status,
            Ask(Get("/v2/models/m/versions/99999999999999999999/ready")).status);
}

TEST_F(HealthEndpointTest, Drain) {
  Start();
  const std::string off = R"({"draining":false,"in_flight":0,"busy":[],"omitted":0})";
  Expect(Get("/v2/drain"), 200, off);
  Expect(Post("/v2/drain", R"({"seconds":30})"), 200,
         R"({"draining":true,"seconds_left":30,"in_flight":0,"busy":[],"omitted":0})");
  Expect(Post("/v2/drain", ""), 200, R"({"draining":true,"in_flight":0,"busy":[],"omitted":0})");
  Expect(Delete("/v2/drain"), 200, off);
  Expect(Post("/v2/drain", R"({"drain":false})"), 200, off);
  EXPECT_EQ(Ask(Post("/v2/drain", R"({"second":30})")).status, 400);
  EXPECT_FALSE(health_.drain.draining);
  health_.refusal = base::Status::Unavailable("Server exiting");
  Expect(Post("/v2/drain", "{}"), 503, R"({"error":"Server exiting"})");
  EXPECT_EQ(Ask(Delete("/v2/health/ready")).status, 405);
}

TEST_F(HealthEndpointTest, ReasonsNeedARole) {
  const api::testing::RoleTokens tokens;
  kserve_.gate = std::make_shared<const api::AccessGate>(api::AccessRules{.file = tokens.file()});
  options_.kept_fields = api::MakeFieldFilter(kserve_.gate, nullptr);
  Start();
  const auto as = [&](const char* path, const char* role) {
    return Ask(Get(path, "Authorization: " + tokens.Bearer(role) + "\r\n")).status;
  };
  EXPECT_EQ(Ask(Get("/v2/health/ready")).status, 200);
  EXPECT_EQ(Ask(Get("/v2/health/ready?reason=true")).status, 401);
  EXPECT_EQ(as("/v2/health/ready?reason=true", "infer"), 403);
  EXPECT_EQ(as("/v2/health/ready?reason=true", "observe"), 200);
  EXPECT_EQ(as("/v2/models/m/ready?reason=true", "infer"), 403);
  EXPECT_EQ(as("/v2/drain", "observe"), 200);
}

TEST_F(HealthEndpointTest, AServiceWithoutHealthSaysSo) {
  service_.health_reports = nullptr;
  Start();
  EXPECT_EQ(Ask(Get("/v2/health/ready?reason=true")).status, 501);
  EXPECT_EQ(Ask(Get("/v2/drain")).status, 501);
}

}  // namespace
}  // namespace nereid::frontend::http
