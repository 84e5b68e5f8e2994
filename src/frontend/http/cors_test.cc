// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/cors.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

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

TEST(CorsPolicy, PermitsItsOriginsAndNoOthers) {
  const CorsPolicy policy({"https://a.example", "http://b.example:3000"});
  EXPECT_EQ(policy.FieldsFor("https://a.example"),
            "Access-Control-Allow-Origin: https://a.example\r\n"
            "Access-Control-Expose-Headers: *\r\nVary: Origin\r\n");
  for (const char* other :
       {"", "null", "https://a.example.org", "http://a.example", "https://A.example"}) {
    EXPECT_EQ(policy.FieldsFor(other), "Vary: Origin\r\n") << other;
  }
}

TEST(CorsPolicy, PermitsAllOrigins) {
  const CorsPolicy policy({"https://a.example", "*"});
  EXPECT_EQ(policy.FieldsFor("https://c.example"),
            "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: *\r\n");
  EXPECT_EQ(policy.FieldsFor(""), "");
}

class CorsServerTest : public testing::ServerFixture {
 protected:
  CorsServerTest() : ServerFixture(1) {}

  void Permit(const std::vector<std::string>& origins) {
    options_.cors = std::make_shared<const CorsPolicy>(origins);
  }
  static std::string Preflight(const std::string& fields) {
    return std::string("OPTIONS ") + kInfer + " HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n";
  }
};

constexpr char kOrigin[] = "Origin: https://a.example\r\n";
constexpr char kForeign[] = "Origin: https://b.example\r\n";
constexpr char kAsks[] = "Access-Control-Request-Method: POST\r\n";

TEST_F(CorsServerTest, IsOffByDefault) {
  Start();
  const RawResponse reply = Ask(Post(kInfer, kJson, kOrigin));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(reply.Field("Vary"), "");
  EXPECT_EQ(Ask(Preflight(std::string(kOrigin) + kAsks)).status, 405);
}

TEST_F(CorsServerTest, AnswersPreflights) {
  Permit({"https://a.example"});
  Start();
  const RawResponse reply = Ask(Preflight(std::string(kOrigin) + kAsks));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.Field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(reply.Field("Access-Control-Allow-Methods"), "GET, POST");
  EXPECT_EQ(reply.Field("Access-Control-Allow-Headers"), "*, Authorization");
  EXPECT_EQ(reply.Field("Vary"), "Origin");
  const RawResponse refused = Ask(Preflight(std::string(kForeign) + kAsks));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.Field("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(refused.Field("Access-Control-Allow-Methods"), "");
  // No preflight without both fields.
  EXPECT_EQ(Ask(Preflight(kOrigin)).status, 405);
  EXPECT_EQ(Ask(Preflight(kAsks)).status, 405);
}

TEST_F(CorsServerTest, PermitsPagesToReadEveryReply) {
  Permit({"https://a.example"});
  Start();
  const std::string origin = kOrigin;
  for (const auto& [request, status] :
       {std::pair(Post(kInfer, kJson, origin), 200),
        {Post(kInfer, "{", origin), 400},
        {Get("/nowhere", origin), 404},
        {Post(kInfer, "", origin + "Content-Length: x\r\n"), 400}}) {
    const RawResponse reply = Ask(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_EQ(reply.Field("Access-Control-Allow-Origin"), "https://a.example") << request;
  }
  EXPECT_EQ(Ask(Post(kInfer, kJson, kForeign)).Field("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(Ask(Post(kInfer, kJson)).Field("Access-Control-Allow-Origin"), "");
}

TEST_F(CorsServerTest, TheOriginOfOneRequestIsNotThatOfTheNext) {
  Permit({"https://a.example"});
  Start();
  RawClient client(server_->port());
  client.Send(Get("/v2/health/live", kOrigin) + Get("/v2/health/live"));
  EXPECT_EQ(client.Receive()->Field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(client.Receive()->Field("Access-Control-Allow-Origin"), "");
}

}  // namespace
}  // namespace nereid::frontend::http
