// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <string>

#include "frontend/net/testing/certificates.h"

namespace nereid::frontend::net {
namespace {

using ::testing::HasSubstr;
using testing::Issue;
using ::testing::StartsWith;

class TlsCredentialsTest : public ::testing::Test {
 protected:
  std::string DefectOf(const TlsSettings& settings) {
    const auto loaded = TlsCredentials::Load(settings);
    if (loaded.ok()) return "none";
    EXPECT_EQ(loaded.status().code(), base::StatusCode::kInvalidArgument);
    return loaded.status().message();
  }

  const testing::CertificateFiles files_;
};

TEST_F(TlsCredentialsTest, GoodFilesMakeSessions) {
  for (const bool mutual : {false, true}) {
    const auto loaded = TlsCredentials::Load(files_.Settings(mutual));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    SSL* const session = (*loaded)->NewSession();
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(SSL_get_min_proto_version(session), TLS1_2_VERSION);
    EXPECT_NE(SSL_get_options(session) & SSL_OP_NO_RENEGOTIATION, 0u);
    EXPECT_NE(SSL_get_options(session) & SSL_OP_NO_COMPRESSION, 0u);
    EXPECT_EQ(SSL_get_max_early_data(session), 0u);
    SSL_free(session);
  }
}

TEST_F(TlsCredentialsTest, AChainOfCertificatesIsTaken) {
  files_.Write("server.pem", files_.server.text + files_.authority.text);
  EXPECT_EQ(DefectOf(files_.Settings()), "none");
}

TEST_F(TlsCredentialsTest, AMissingFileIsNamedWithItsFlag) {
  auto settings = files_.Settings(true);
  settings.files.certificate = "/no/such/file";
  EXPECT_THAT(DefectOf(settings), StartsWith("--test-server-cert: "));
  EXPECT_THAT(DefectOf(settings), HasSubstr("/no/such/file"));
  settings = files_.Settings(true);
  settings.files.key = "/no/such/file";
  EXPECT_THAT(DefectOf(settings), StartsWith("--test-server-key: "));
  settings = files_.Settings(true);
  settings.files.client_roots = "/no/such/file";
  EXPECT_THAT(DefectOf(settings), StartsWith("--test-root-cert: "));
  settings.files.mutual = false;  // not used
  EXPECT_EQ(DefectOf(settings), "none");
}

TEST_F(TlsCredentialsTest, AFlagThatWasNotGivenIsNamed) {
  auto settings = files_.Settings();
  settings.files.certificate = "";
  EXPECT_EQ(DefectOf(settings), "--test-server-cert is missing: TLS needs the path of a PEM file");
}

TEST_F(TlsCredentialsTest, AFileWithoutPemIsNamed) {
  for (const char* name : {"server.pem", "server.key", "authority.pem"}) {
    const testing::CertificateFiles files;
    files.Write(name, "nothing of use\n");
    EXPECT_THAT(DefectOf(files.Settings(true)), HasSubstr("'" + files.path(name) + "' has no "));
  }
}

TEST_F(TlsCredentialsTest, AKeyOfAnotherCertificateIsRefused) {
  files_.Write("server.key", files_.client.key);
  EXPECT_EQ(DefectOf(files_.Settings()), "--test-server-key: the key in '" +
                                             files_.path("server.key") +
                                             "' does not belong to the certificate in '" +
                                             files_.path("server.pem") + "' (--test-server-cert)");
}

TEST_F(TlsCredentialsTest, ACutFileIsRefused) {
  files_.Write("server.pem", files_.server.text.substr(0, files_.server.text.size() / 2));
  EXPECT_THAT(DefectOf(files_.Settings()), StartsWith("--test-server-cert: "));
  files_.Write("server.pem",
               files_.server.text + files_.authority.text.substr(0, files_.server.text.size() / 2));
  EXPECT_THAT(DefectOf(files_.Settings()), HasSubstr("a certificate in"));
}

TEST_F(TlsCredentialsTest, NobodyIsAskedForAPassphrase) {
  files_.Write("server.key",
               "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
               "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh2QVPoAnZtbAICCAAw\n"
               "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGNsBvPuN8vL8q9pRkkXr5sEgZDa\n"
               "-----END ENCRYPTED PRIVATE KEY-----\n");
  EXPECT_THAT(DefectOf(files_.Settings()), StartsWith("--test-server-key: "));
}

TEST_F(TlsCredentialsTest, VersionsChangeWithTheFiles) {
  const auto settings = files_.Settings();
  const auto before = TlsCredentials::VersionsOf(settings.files);
  EXPECT_EQ(TlsCredentials::VersionsOf(settings.files), before);
  files_.Write("server.key", files_.server.key);
  EXPECT_NE(TlsCredentials::VersionsOf(settings.files), before);
}

}  // namespace
}  // namespace nereid::frontend::net
