// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/testing/fake_context.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;
using curl::FieldOf;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using ::testing::Not;

FakeReply Token(const curl::HttpRequest&) {
  return {{200, {}, R"({"access_token": "tok", "expires_in": "3600", "token_type": "Bearer"})"},
          {}};
}

class AzureCredentialsTest : public ::testing::Test {
 protected:
  base::Result<AzureCredential> Find(const std::string& url = "as://acc/cont/m") {
    return FindAzureKeys(context_.Get(), url, *ParseStorageUrl(url));
  }
  FakeContext context_{Token};
};

TEST_F(AzureCredentialsTest, KeysAreDecoded) {
  context_.variables["AZURE_STORAGE_KEY"] = "c2VjcmV0";
  context_.variables["AZURE_STORAGE_ACCOUNT"] = "acc.blob.core.windows.net";
  EXPECT_EQ(Find()->value.account_key, "secret");
  EXPECT_EQ(Find()->source, "of the environment variable AZURE_STORAGE_KEY");
  context_.variables["AZURE_STORAGE_ACCOUNT"] = "other";
  const auto other = Find();
  EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(other.status().message(), HasSubstr("'other'"));
  context_.variables.erase("AZURE_STORAGE_ACCOUNT");
  context_.variables["AZURE_STORAGE_KEY"] = "not base64";
  EXPECT_THAT(Find().status().message(), Not(HasSubstr("not base64.")));
  EXPECT_EQ(Find().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(AzureCredentialsTest, SignaturesComeFromTheUrlOrTheEnvironment) {
  context_.variables["AZURE_STORAGE_SAS_TOKEN"] = "?sv=1&sig=env";
  EXPECT_EQ(Find()->value.signature, "sv=1&sig=env");
  EXPECT_EQ(Find("as://acc/cont?sv=1&sig=url")->value.signature, "sv=1&sig=url");
}

TEST_F(AzureCredentialsTest, AManagedIdentityGivesAToken) {
  context_.variables["AZURE_STORAGE_AUTH_TYPE"] = "managed_identity";
  context_.variables["AZURE_STORAGE_CLIENT_ID"] = "some-id";
  const auto found = Find();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->value.token, "tok");
  EXPECT_EQ(found->expires_ms, (FakeContext::kStartSecs + 3600) * 1000);
  const curl::HttpRequest request = context_.requests().at(0);
  EXPECT_EQ(request.url,
            "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&"
            "client_id=some-id&resource=https%3A%2F%2Fstorage.azure.com%2F");
  EXPECT_EQ(FieldOf(request.fields, "Metadata"), "true");
  EXPECT_FALSE(request.use_proxy);
}

TEST_F(AzureCredentialsTest, AnAppHasAServerOfItsOwn) {
  context_.variables["AZURE_STORAGE_AUTH_TYPE"] = "managed_identity";
  context_.variables["IDENTITY_ENDPOINT"] = "http://127.0.0.1:41/msi/token";
  context_.variables["IDENTITY_HEADER"] = "header";
  ASSERT_TRUE(Find().ok());
  const curl::HttpRequest request = context_.requests().at(0);
  EXPECT_TRUE(request.url.starts_with("http://127.0.0.1:41/msi/token?api-version=2019-08-01&"));
  EXPECT_EQ(FieldOf(request.fields, "X-IDENTITY-HEADER"), "header");
}

TEST_F(AzureCredentialsTest, TheDefaultIsAClientThenAnIdentity) {
  context_.variables["AZURE_STORAGE_AUTH_TYPE"] = "default";
  ASSERT_TRUE(Find().ok());
  EXPECT_THAT(context_.requests().back().url, HasSubstr("169.254.169.254"));
  context_.variables["AZURE_TENANT_ID"] = "tenant";
  context_.variables["AZURE_CLIENT_ID"] = "client";
  context_.variables["AZURE_FEDERATED_TOKEN_FILE"] = context_.Write("token", "jwt\n");
  ASSERT_TRUE(Find().ok());
  curl::HttpRequest request = context_.requests().back();
  EXPECT_EQ(request.url, "https://login.microsoftonline.com/tenant/oauth2/v2.0/token");
  EXPECT_THAT(request.body, HasSubstr("client_assertion=jwt&"));
  context_.variables["AZURE_CLIENT_SECRET"] = "s&s";
  ASSERT_TRUE(Find().ok());
  request = context_.requests().back();
  EXPECT_EQ(request.body,
            "client_id=client&client_secret=s%26s&grant_type=client_credentials&"
            "scope=https%3A%2F%2Fstorage.azure.com%2F.default");
}

TEST_F(AzureCredentialsTest, TheCredentialFileReplacesTheVariables) {
  context_.variables["AZURE_STORAGE_KEY"] = "c2VjcmV0";
  context_.variables["TRITON_CLOUD_CREDENTIAL_PATH"] = context_.Write(
      "cloud.json", R"({"as": {"as://acc": {"account_str": "acc", "account_key": "a2V5"},
                               "as://acc/cont": {"auth_type": "managed_identity"}}})");
  EXPECT_EQ(Find()->value.token, "tok");
  EXPECT_EQ(Find("as://acc/x")->value.account_key, "key");
  context_.Write("cloud.json", "{}");
  EXPECT_EQ(Find()->value, AzureKeys());
}

TEST_F(AzureCredentialsTest, RefusesAnUnknownKind) {
  context_.variables["AZURE_STORAGE_AUTH_TYPE"] = "magic";
  EXPECT_EQ(Find().status().message(),
            "the kind of authentication of Azure (AZURE_STORAGE_AUTH_TYPE or auth_type) is "
            "'magic'; expected 'key', 'managed_identity' or 'default'");
}

}  // namespace
}  // namespace nereid::repository::storage
