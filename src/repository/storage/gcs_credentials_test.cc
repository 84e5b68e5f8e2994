// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/gcs_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "repository/storage/digests.h"
#include "repository/storage/json_members.h"
#include "repository/storage/testing/fake_context.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using testing::NoServer;
using ::testing::Not;

/// An RSA key that was made for this process.
class TestKey {
 public:
  TestKey() : key_(EVP_RSA_gen(2048)) {}
  ~TestKey() { EVP_PKEY_free(key_); }

  std::string Pem() const {
    BIO* const out = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(out, key_, nullptr, nullptr, 0, nullptr, nullptr);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out, &text);
    std::string pem(text, static_cast<size_t>(size));
    BIO_free(out);
    return pem;
  }
  bool Verifies(std::string_view data, const std::string& signature) const {
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    const bool good =
        EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key_) == 1 &&
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                         signature.size(), reinterpret_cast<const unsigned char*>(data.data()),
                         data.size()) == 1;
    EVP_MD_CTX_free(context);
    return good;
  }

 private:
  EVP_PKEY* const key_;
};

std::string DecodeUrl(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return DecodeBase64(text).value_or("");
}

std::string JsonText(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.replace(at, 1, "\\n");
  return text;
}

FakeReply Token(const curl::HttpRequest&) {
  return {{200, {}, R"({"access_token": "tok", "expires_in": 3599})"}, {}};
}

TEST(FindGcsToken, AServiceAccountSignsItsRequest) {
  const TestKey key;
  FakeContext context(Token);
  context.variables["GOOGLE_APPLICATION_CREDENTIALS"] = context.Write(
      "sa.json", R"({"type": "service_account", "client_email": "me@p.example",)"
                 R"( "private_key_id": "kid", "token_uri": "https://token.example/t",)"
                 R"( "private_key": ")" +
                     JsonText(key.Pem()) + "\"}");
  const auto found = FindGcsToken(context.Get(), "gs://b");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->value.text, "tok");
  EXPECT_EQ(found->expires_ms, (FakeContext::kStartSecs + 3599) * 1000);
  EXPECT_THAT(found->source, HasSubstr("of the service account 'me@p.example' in '"));
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url, "https://token.example/t");
  const size_t assertion = request.body.find("assertion=");
  ASSERT_EQ(assertion, 0u) << request.body;
  const std::string jwt = request.body.substr(10, request.body.find('&') - 10);
  EXPECT_TRUE(
      request.body.ends_with("&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"));
  const size_t dot = jwt.rfind('.');
  EXPECT_TRUE(key.Verifies(jwt.substr(0, dot), DecodeUrl(jwt.substr(dot + 1))));
  EXPECT_EQ(DecodeUrl(jwt.substr(0, jwt.find('.'))), R"({"alg":"RS256","typ":"JWT","kid":"kid"})");
  EXPECT_EQ(DecodeUrl(jwt.substr(jwt.find('.') + 1, dot - jwt.find('.') - 1)),
            R"({"iss":"me@p.example",)"
            R"("scope":"https://www.googleapis.com/auth/devstorage.read_only",)"
            R"("aud":"https://token.example/t","iat":1369353600,"exp":1369357200})");
}

TEST(FindGcsToken, AnAuthorizedUserHasARefreshToken) {
  FakeContext context(Token);
  context.Write(".config/gcloud/application_default_credentials.json",
                R"({"type": "authorized_user", "client_id": "id", "client_secret": "cs",)"
                R"( "refresh_token": "rt"})");
  ASSERT_TRUE(FindGcsToken(context.Get(), "gs://b").ok());
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url, "https://oauth2.googleapis.com/token");
  EXPECT_EQ(request.body,
            "client_id=id&client_secret=cs&grant_type=refresh_token&refresh_token=rt");
}

TEST(FindGcsToken, TheCredentialFileNamesAFile) {
  FakeContext context(Token);
  const std::string user = context.Write(
      "user.json", R"({"type": "authorized_user", "client_id": "i", "refresh_token": "r"})");
  context.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/does/not/exist";
  context.variables["TRITON_CLOUD_CREDENTIAL_PATH"] =
      context.Write("cloud.json", "{\"gs\": {\"\": \"" + user + "\"}}");
  const auto found = FindGcsToken(context.Get(), "gs://b");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_THAT(found->source, HasSubstr("TRITON_CLOUD_CREDENTIAL_PATH"));
}

TEST(FindGcsToken, RefusesABadFileWithoutShowingIt) {
  FakeContext context(Token);
  context.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/does/not/exist";
  EXPECT_THAT(FindGcsToken(context.Get(), "gs://b").status().message(),
              HasSubstr("the file '/does/not/exist' with the credentials in '/does/not/exist' "
                        "(GOOGLE_APPLICATION_CREDENTIALS) cannot be read"));
  for (const char* content :
       {"secret", "[\"secret\"]", "{}", "{\"type\": \"external_account\", \"k\": \"secret\"}",
        "{\"type\": \"service_account\", \"private_key\": \"secret\"}",
        "{\"type\": \"service_account\", \"private_key\": 5}"}) {
    context.variables["GOOGLE_APPLICATION_CREDENTIALS"] = context.Write("f.json", content);
    const auto found = FindGcsToken(context.Get(), "gs://b");
    EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument) << content;
    EXPECT_THAT(found.status().message(), Not(HasSubstr("secret")));
  }
  EXPECT_TRUE(context.requests().empty());
}

TEST(FindGcsToken, ATokenServerThatRefusesIsNamedWithoutItsText) {
  for (const auto& [status, code] :
       {std::pair(400, StatusCode::kInvalidArgument), std::pair(401, StatusCode::kInvalidArgument),
        std::pair(503, StatusCode::kUnavailable)}) {
    FakeContext context([status = status](const curl::HttpRequest&) -> FakeReply {
      return {{status, {}, R"({"error": "invalid_grant", "error_description": "rt is secret"})"},
              {}};
    });
    context.variables["GOOGLE_APPLICATION_CREDENTIALS"] =
        context.Write("u.json", R"({"type": "authorized_user", "refresh_token": "secret"})");
    const auto found = FindGcsToken(context.Get(), "gs://b");
    EXPECT_EQ(found.status().code(), code);
    EXPECT_THAT(found.status().message(), HasSubstr("invalid_grant"));
    EXPECT_THAT(found.status().message(), HasSubstr("GOOGLE_APPLICATION_CREDENTIALS"));
    EXPECT_THAT(found.status().message(), Not(HasSubstr("secret")));
  }
}

TEST(FindGcsToken, RefusesATokenThatIsNone) {
  for (const char* body : {"", "{}", "{\"access_token\": 5}", "{\"access_token\": \"\"}",
                           "{\"access_token\": \"a\\r\\nb: c\"}"}) {
    FakeContext context([body](const curl::HttpRequest&) {
      return FakeReply{{200, {}, body}, {}};
    });
    context.variables["GOOGLE_APPLICATION_CREDENTIALS"] =
        context.Write("u.json", R"({"type": "authorized_user"})");
    EXPECT_EQ(FindGcsToken(context.Get(), "gs://b").status().code(), StatusCode::kInternal) << body;
  }
}

TEST(FindGcsToken, AnEmulatorNeedsNone) {
  FakeContext context(NoServer);
  context.variables["STORAGE_EMULATOR_HOST"] = "localhost:1";
  const auto found = FindGcsToken(context.Get(), "gs://b");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->value.text, "");
  EXPECT_TRUE(context.requests().empty());
}

}  // namespace
}  // namespace nereid::repository::storage
