// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_credentials.h"

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

class AwsCredentialsTest : public ::testing::Test {
 protected:
  base::Result<AwsCredential> Find() { return FindAwsKeys(context_.Get(), "s3://bucket/models"); }
  FakeContext context_{NoServer};
};

TEST_F(AwsCredentialsTest, TheEnvironmentComesBeforeTheProfile) {
  context_.Write(".aws/credentials",
                 "[default]\naws_access_key_id=P\naws_secret_access_key=S\n"
                 "[other]\naws_access_key_id=O\naws_secret_access_key=S\n");
  context_.Write(".aws/config", "[default]\nregion=eu-west-1\n[profile other]\nregion=eu-west-2\n");
  const auto profile = Find();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->value, (AwsKeys{"P", "S", "", "eu-west-1"}));
  EXPECT_EQ(profile->source, "of the profile 'default' in AWS's configuration files");
  context_.variables["AWS_PROFILE"] = "other";
  EXPECT_EQ(Find()->value, (AwsKeys{"O", "S", "", "eu-west-2"}));
  context_.variables["AWS_ACCESS_KEY_ID"] = "E";
  context_.variables["AWS_SECRET_ACCESS_KEY"] = "X";
  context_.variables["AWS_SESSION_TOKEN"] = "T";
  const auto environment = Find();
  EXPECT_EQ(environment->value, (AwsKeys{"E", "X", "T", ""}));
  EXPECT_EQ(environment->source,
            "of the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
}

TEST_F(AwsCredentialsTest, FilesCanBeElsewhere) {
  context_.variables["AWS_SHARED_CREDENTIALS_FILE"] =
      context_.Write("keys", "[default]\naws_access_key_id=P\naws_secret_access_key=S\n");
  context_.variables["AWS_CONFIG_FILE"] = context_.Write("config", "[default]\nregion=r-1\n");
  EXPECT_EQ(Find()->value, (AwsKeys{"P", "S", "", "r-1"}));
}

TEST_F(AwsCredentialsTest, ARequestedProfileMustBeUsable) {
  context_.variables["AWS_PROFILE"] = "sso";
  context_.Write(".aws/config", "[profile sso]\nsso_session = x\n");
  const auto found = Find();
  EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(found.status().message(), HasSubstr("the profile 'sso'"));
}

TEST_F(AwsCredentialsTest, TheCredentialFileReplacesTheVariables) {
  context_.variables["AWS_ACCESS_KEY_ID"] = "E";
  context_.variables["AWS_SECRET_ACCESS_KEY"] = "X";
  context_.variables["TRITON_CLOUD_CREDENTIAL_PATH"] =
      context_.Write("cloud.json",
                     R"({"s3": {"s3://bucket": {"key_id": "F", "secret_key": "K", "region": "r-2",
                                 "session_token": "t"},
                 "s3://bucket/models": {"profile": "p", "region": "r-3"},
                 "s3://half": {"key_id": "F"}}})");
  context_.Write(".aws/credentials", "[p]\naws_access_key_id=P\naws_secret_access_key=S\n");
  EXPECT_EQ(FindAwsKeys(context_.Get(), "s3://bucket/x")->value, (AwsKeys{"F", "K", "t", "r-2"}));
  const auto profile = Find();
  EXPECT_EQ(profile->value, (AwsKeys{"P", "S", "", "r-3"}));
  EXPECT_THAT(profile->source, HasSubstr("of the profile 'p'"));
  EXPECT_THAT(profile->source, HasSubstr("TRITON_CLOUD_CREDENTIAL_PATH"));
  EXPECT_EQ(FindAwsKeys(context_.Get(), "s3://half").status().code(), StatusCode::kInvalidArgument);
  context_.Write("cloud.json", "{\"gs\": {}}");
  const auto none = Find();
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->value.is_anonymous()) << "the variables are not used";
}

TEST_F(AwsCredentialsTest, WithoutAnyTheRequestsAreAnonymous) {
  const auto none = Find();
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->value.is_anonymous());
  EXPECT_THAT(none->source, HasSubstr("none (AWS_ACCESS_KEY_ID is not set"));
}

TEST(AwsWebIdentity, ExchangesTheToken) {
  FakeContext context([](const curl::HttpRequest&) -> FakeReply {
    return {{200,
             {},
             "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
             "<AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
             "<SessionToken>T</SessionToken><Expiration>2013-05-24T01:00:00Z</Expiration>"
             "</Credentials></AssumeRoleWithWebIdentityResult>"
             "</AssumeRoleWithWebIdentityResponse>"},
            {}};
  });
  context.variables["AWS_REGION"] = "eu-west-1";
  context.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  context.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = context.Write("token", "jwt.text\n");
  const auto found = FindAwsKeys(context.Get(), "s3://bucket");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->value, (AwsKeys{"ASIA", "S", "T", ""}));
  EXPECT_EQ(found->expires_ms, (FakeContext::kStartSecs + 3600) * 1000);
  ASSERT_EQ(context.requests().size(), 1u);
  const curl::HttpRequest request = context.requests()[0];
  EXPECT_EQ(request.url, "https://sts.eu-west-1.amazonaws.com/");
  EXPECT_EQ(request.body,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&"
            "RoleSessionName=nereid&Version=2011-06-15&WebIdentityToken=jwt.text");
}

TEST(AwsWebIdentity, ARefusalNamesTheSourceButNoToken) {
  FakeContext context([](const curl::HttpRequest&) { return FakeReply{{403, {}, "secret"}, {}}; });
  context.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  context.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = context.Write("token", "secret");
  const auto found = FindAwsKeys(context.Get(), "s3://bucket");
  EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(found.status().message(), HasSubstr("AWS_WEB_IDENTITY_TOKEN_FILE"));
  EXPECT_THAT(found.status().message(), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace nereid::repository::storage
