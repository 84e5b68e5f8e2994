// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/testing/fake_context.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using testing::NoServer;
using ::testing::Not;

constexpr char kKeys[] =
    R"({"Code": "Success", "AccessKeyId": "ASIA", "SecretAccessKey": "secret", "Token": "token",)"
    R"( "Expiration": "2013-05-24T06:00:00Z"})";

FakeReply Ok(const std::string& body) { return {{200, {}, body}, {}}; }

/// The metadata service of a virtual machine with a role.
FakeReply Instance(const curl::HttpRequest& request) {
  const std::string host = "http://169.254.169.254/latest/";
  if (request.url == host + "api/token") return Ok("session\n");
  if (curl::FieldOf(request.fields, "X-aws-ec2-metadata-token") != "session") return {{401}, {}};
  if (request.url == host + "meta-data/iam/security-credentials/") return Ok("my role\n");
  if (request.url == host + "meta-data/iam/security-credentials/my%20role") return Ok(kKeys);
  if (request.url == host + "meta-data/placement/region") return Ok("eu-west-3");
  return {{404}, {}};
}

TEST(ParseTemporaryKeys, RefusesWhatIsNotComplete) {
  for (const char* bad :
       {"", "secret", "{}", R"({"AccessKeyId": "A"})", R"({"SecretAccessKey": "secret"})",
        R"({"AccessKeyId": 5, "SecretAccessKey": "secret"})",
        R"({"AccessKeyId": "A", "SecretAccessKey": "secret", "Expiration": "soon"})"}) {
    const auto keys = ParseTemporaryKeys(bad, "of a test");
    EXPECT_EQ(keys.status().code(), StatusCode::kInternal) << bad;
    EXPECT_THAT(keys.status().message(), Not(HasSubstr("secret")));
  }
}

TEST(FindInstanceKeys, AsksForATokenFirst) {
  FakeContext context(Instance);
  const auto found = FindInstanceKeys(context.Get());
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->value, (AwsKeys{"ASIA", "secret", "token", "eu-west-3"}));
  EXPECT_EQ((*found)->source, "of the virtual machine's role 'my role'");
  EXPECT_EQ((*found)->expires_ms, (FakeContext::kStartSecs + 6 * 3600) * 1000);
  const auto requests = context.requests();
  EXPECT_EQ(requests[0].method, "PUT");
  EXPECT_EQ(curl::FieldOf(requests[0].fields, "X-aws-ec2-metadata-token-ttl-seconds"), "21600");
  for (const curl::HttpRequest& request : requests) {
    EXPECT_FALSE(request.use_proxy);
    EXPECT_LE(request.timeouts.connect_ms, 1000);
  }
}

TEST(FindInstanceKeys, FindsNothingElsewhere) {
  FakeContext nowhere(NoServer);
  EXPECT_FALSE(FindInstanceKeys(nowhere.Get())->has_value());
  EXPECT_EQ(nowhere.requests().size(), 1u);
  FakeContext disabled(Instance);
  disabled.variables["AWS_EC2_METADATA_DISABLED"] = "True";
  EXPECT_FALSE(FindInstanceKeys(disabled.Get())->has_value());
  EXPECT_TRUE(disabled.requests().empty());
  FakeContext no_role([](const curl::HttpRequest& request) -> FakeReply {
    if (request.method == "PUT") return Ok("session");
    return {{404}, {}};
  });
  EXPECT_FALSE(FindInstanceKeys(no_role.Get())->has_value());
}

TEST(FindInstanceKeys, AServiceThatFailsLaterIsAnError) {
  FakeContext context([](const curl::HttpRequest& request) -> FakeReply {
    if (request.method == "PUT") return Ok("session");
    return {{503}, {}};
  });
  EXPECT_EQ(FindInstanceKeys(context.Get()).status().code(), StatusCode::kUnavailable);
}

TEST(FindContainerKeys, FollowsTheVariables) {
  FakeContext context([](const curl::HttpRequest&) { return Ok(kKeys); });
  EXPECT_FALSE(FindContainerKeys(context.Get())->has_value());
  context.variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/keys?id=1";
  EXPECT_EQ((*FindContainerKeys(context.Get()))->value.key_id, "ASIA");
  EXPECT_EQ(context.requests().back().url, "http://169.254.170.2/v2/keys?id=1");
  context.variables.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  context.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/v1/credentials";
  context.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = context.Write("token", "abc\n");
  EXPECT_TRUE(FindContainerKeys(context.Get())->has_value());
  EXPECT_EQ(curl::FieldOf(context.requests().back().fields, "Authorization"), "abc");
}

TEST(FindContainerKeys, SendsNoTokenToAStranger) {
  FakeContext context([](const curl::HttpRequest&) { return Ok(kKeys); });
  context.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "secret";
  for (const char* url :
       {"http://example.com/", "http://127.0.0.1.example.com/", "http://localhost@example.com/",
        "http://169.254.170.2@evil/", "file:///etc/passwd", "ftp://localhost/"}) {
    context.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    EXPECT_EQ(FindContainerKeys(context.Get()).status().code(), StatusCode::kInvalidArgument)
        << url;
  }
  EXPECT_TRUE(context.requests().empty());
}

}  // namespace
}  // namespace nereid::repository::storage
