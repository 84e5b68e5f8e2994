// SPDX-License-Identifier: Apache-2.0
// Who may do what over HTTP: restrictions, roles, forwarded header fields.
#include "frontend/http/admission.h"

#include <gtest/gtest.h>

#include <string>

#include "api/testing/role_tokens.h"
#include "frontend/http/route.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::frontend::http {
namespace {

using testing::Get;
using testing::kInfer;
using testing::kJson;
using testing::Post;
using testing::RawClient;
using testing::RawResponse;

class AdmissionTest : public testing::ServerFixture {
 protected:
  AdmissionTest() : ServerFixture(1) {}

  void StartWith(api::AccessRules rules, const std::string& pattern = "") {
    std::shared_ptr<const api::HeaderForwarding> forwarding;
    if (!pattern.empty()) forwarding = api::HeaderForwarding::Make(pattern).value();
    if (!rules.empty()) kserve_.gate = std::make_shared<const api::AccessGate>(std::move(rules));
    options_.kept_fields = api::MakeFieldFilter(kserve_.gate, forwarding);
    Start();
    client_ = std::make_unique<RawClient>(server_->port());
  }

  RawResponse Send(const std::string& request) {
    client_->Send(request);
    return client_->Receive().value_or(RawResponse{});
  }
  std::string As(const char* role) { return "Authorization: " + tokens_.Bearer(role) + "\r\n"; }

  const api::testing::RoleTokens tokens_;
  std::unique_ptr<RawClient> client_;
};

constexpr char kRestricted[] = R"({"error":"This API is restricted, expecting header 'key'"})";

TEST_F(AdmissionTest, RestrictionsComeBeforeTheMethod) {
  StartWith({.restrictions = {{api::Category::kHealth, "key", "value"}}});
  for (const std::string& request :
       {Get("/v2/health/live"), Post("/v2/health/live", ""), Get("/v2/models/echo/ready"),
        Get("/v2/health/ready", "key: Value\r\n"), Get("/v2/health/ready", "key2: value\r\n")}) {
    const RawResponse refused = Send(request);
    EXPECT_EQ(refused.status, 403) << request;
    EXPECT_EQ(refused.body, kRestricted) << request;
    EXPECT_EQ(refused.Field("Content-Type"), "text/plain");
    EXPECT_EQ(refused.Field("WWW-Authenticate"), "");
  }
  EXPECT_EQ(Send(Get("/v2/health/live", "KEY: value\r\n")).status, 200);
  EXPECT_EQ(Send(Post("/v2/health/live", "", "KEY: value\r\n")).status, 405);
  EXPECT_EQ(Send(Get("/v2")).status, 200);
  EXPECT_EQ(Send(Post(kInfer, kJson)).status, 200);
  EXPECT_EQ(Send(Get("/nowhere")).status, 404);
}

TEST_F(AdmissionTest, Roles) {
  StartWith({.file = tokens_.file()});
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);
  const RawResponse nobody = Send(Post(kInfer, kJson));
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.Field("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(nobody.Field("Content-Type"), "application/json");
  EXPECT_EQ(nobody.head.substr(0, 25), "HTTP/1.1 401 Unauthorized");
  EXPECT_EQ(nobody.body,
            R"({"error":"this operation needs one of the roles 'infer' or 'manage': send a valid )"
            R"(token as 'Authorization: Bearer <token>'"})");
  EXPECT_EQ(Send(Post(kInfer, kJson, As("infer"))).status, 200);
  const RawResponse observer = Send(Post(kInfer, kJson, As("observe")));
  EXPECT_EQ(observer.status, 403);
  EXPECT_EQ(observer.Field("WWW-Authenticate"), "");
  EXPECT_EQ(Send(Get("/v2/logging", As("observe"))).status, 200);
  EXPECT_EQ(Send(Post("/v2/logging", "{}", As("observe"))).status, 403);
  EXPECT_EQ(Send(Post("/v2/logging", "{}", As("manage"))).status, 200);
  EXPECT_EQ(Send(Post(kInfer, kJson, As("infer") + As("infer"))).status, 401);
}

TEST_F(AdmissionTest, EveryEndpointIsClosedToNobody) {
  StartWith({.file = tokens_.file(), .protects_health = true});
  for (const EndpointSpec& spec : AllEndpoints()) {
    // The shortest path of the form; one of several words.
    std::string path, form(spec.form);
    for (size_t i = 0, depth = 0; i < form.size(); ++i) {
      if (form[i] == '[') ++depth;
      if (depth == 0) path += form[i];
      if (form[i] == ']') --depth;
    }
    if (const size_t open = path.find('('); open != std::string::npos) {
      const size_t word_end = path.find('|'), end = path.find(')');
      path =
          path.substr(0, open) + path.substr(open + 1, word_end - open - 1) + path.substr(end + 1);
    }
    if (path.find('{') != std::string::npos) path.replace(path.find('{'), 7, "echo");
    ASSERT_EQ(FindRoute(path).endpoint, spec.endpoint) << spec.form << " made " << path;
    EXPECT_EQ(Send(Get(path)).status, 401) << path;
    EXPECT_EQ(Send(Post(path, "{}")).status, 401) << path;
  }
}

// Whether a label exists is told to those alone who may ask.
TEST_F(AdmissionTest, TheGateComesBeforeLabels) {
  StartWith({.file = tokens_.file()});
  const std::string path = "/v2/models/echo/versions/canary";
  for (const std::string& request :
       {Get(path), Get(path + "/ready"), Get(path + "/config"), Get(path + "/stats"),
        Post(path + "/infer", kJson), Post(path + "/generate", "{}")}) {
    EXPECT_EQ(Send(request).status, 401) << request;
  }
  EXPECT_EQ(Send(Get(path + "/ready", As("observe"))).status, 404);
  EXPECT_EQ(Send(Post(path + "/ready", "", As("observe"))).status, 404) << "as in Triton, not 405";
  EXPECT_EQ(Send(Post(path + "/infer", kJson, As("infer"))).status, 404);
}

// Nobody's bodies cost no memory: the reply comes before the body, and the connection ends.
TEST_F(AdmissionTest, LargeBodiesOfRefusedClientsAreNotReceived) {
  StartWith({.file = tokens_.file()});
  const std::string path = std::string("POST ") + kInfer + " HTTP/1.1\r\nHost: x\r\n";
  RawClient known(server_->port());
  known.Send(path + "Content-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(known.Receive()->status, 401);
  known.FinishSending();
  EXPECT_TRUE(known.AtEnd());
  RawClient chunked(server_->port());
  chunked.Send(path + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  EXPECT_EQ(chunked.Receive()->status, 401);
  chunked.FinishSending();
  EXPECT_TRUE(chunked.AtEnd());
  // A small one is read, and the connection goes on.
  client_->Send(path + "Content-Length: 4\r\n\r\n");
  client_->Send("1234");
  EXPECT_EQ(client_->Receive()->status, 401);
  EXPECT_EQ(Send(Get("/v2", As("infer"))).status, 200);
  // And of a client that may, everything is.
  client_->Send(path + As("infer") + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  client_->Send("0\r\n\r\n");
  EXPECT_EQ(client_->Receive()->status, 400);
}

TEST_F(AdmissionTest, FieldsAreForwardedToModels) {
  std::vector<request::Parameter> got;
  service_.handler = [&](std::unique_ptr<request::InferenceRequest> request) {
    got = request->parameters;
    api::testing::FakeInferenceService::Echo(std::move(request));
  };
  StartWith({.file = tokens_.file()}, "^x-|auth");
  EXPECT_EQ(Send(Post(kInfer, kJson, As("infer") + "X-One: 1 \r\nother: 2\r\nx-one: 3\r\n")).status,
            200);
  // As received, in order; the secret is no parameter.
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].name, "X-One");
  EXPECT_EQ(std::get<std::string>(got[0].value), "1");
  EXPECT_EQ(got[1].name, "x-one");
  EXPECT_EQ(std::get<std::string>(got[1].value), "3");
  got.clear();
  EXPECT_EQ(Send(Post("/v2/models/echo/generate", R"({"INPUT0":1.5})", As("infer") + "x-a: 1\r\n"))
                .status,
            200);
  EXPECT_TRUE(got.empty());
}

TEST_F(AdmissionTest, ReservedAndTooManyFieldsAreRefused) {
  StartWith({}, ".*");
  const RawResponse reserved = Send(Post(kInfer, kJson, "timeout: 5\r\n"));
  EXPECT_EQ(reserved.status, 400);
  EXPECT_EQ(
      reserved.body,
      R"({"error":"Header 'timeout' is reserved for Triton usage and cannot be forwarded."})");
  std::string many;
  for (int i = 0; i < 130; ++i) many += "a:\r\n";
  const RawResponse refused = Send(Post(kInfer, kJson, many));
  EXPECT_EQ(refused.status, 431);
}

}  // namespace
}  // namespace nereid::frontend::http
