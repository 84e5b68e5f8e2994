// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/log.h"
#include "frontend/net/testing/tls_fixture.h"

namespace nereid::frontend::net {
namespace {

using testing::Certificate;
using ::testing::HasSubstr;
using testing::Issue;

/// How the certificate files may change while the server runs.
class TlsContextTest : public testing::TlsTest {
 protected:
  void PassTime() { clock_.Advance(TlsContext::kCheckIntervalNs); }
  std::string ServerNameOfNewConnection() {
    if (stream_ != nullptr) stream_->Close();
    Establish();
    return client_->ServerName();
  }
};

TEST_F(TlsContextTest, NewConnectionsGetTheChangedCertificateAndOpenOnesGoOn) {
  Establish();
  EXPECT_EQ(client_->ServerName(), "server");
  const auto old_stream = std::move(stream_);
  const auto old_client = std::move(client_);
  testing::MemoryStream* const old_inner = inner_;

  const Certificate fresh = Issue("fresh", &files_.authority);
  files_.Write("server.pem", fresh.text);
  files_.Write("server.key", fresh.key);
  PassTime();
  EXPECT_EQ(ServerNameOfNewConnection(), "fresh");

  old_client->Write("still here");
  old_inner->input = old_client->TakeOutput();
  char buffer[100];
  EXPECT_EQ(old_stream->Read(buffer).size, 10u);
  old_stream->Close();
}

TEST_F(TlsContextTest, FilesAreLookedAtOnceASecond) {
  Serve();
  const Certificate fresh = Issue("fresh", &files_.authority);
  files_.Write("server.pem", fresh.text);
  files_.Write("server.key", fresh.key);
  EXPECT_EQ(ServerNameOfNewConnection(), "server");
  PassTime();
  EXPECT_EQ(ServerNameOfNewConnection(), "fresh");
}

TEST_F(TlsContextTest, BadFilesKeepTheEarlierCertificateAndAreReportedOnceForEachChange) {
  Serve();
  const std::string log = files_.path("log");
  ASSERT_TRUE(base::Log::Instance().SetFile(log).ok());
  const auto reports = [&log] {
    std::ifstream in(log);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    size_t count = 0;
    for (size_t at = 0; (at = text.find("cannot be used", at)) != text.npos; ++at) ++count;
    return count;
  };
  const Certificate fresh = Issue("fresh", &files_.authority);
  files_.Write("server.pem", fresh.text);  // the key does not belong to it yet
  for (int i = 0; i < 3; ++i) {
    PassTime();
    EXPECT_EQ(ServerNameOfNewConnection(), "server");
  }
  EXPECT_EQ(reports(), 1u);
  files_.Write("server.key", "nothing");
  PassTime();
  EXPECT_EQ(ServerNameOfNewConnection(), "server");
  EXPECT_EQ(reports(), 2u);
  files_.Write("server.key", fresh.key);
  PassTime();
  EXPECT_EQ(ServerNameOfNewConnection(), "fresh");
  EXPECT_EQ(reports(), 2u);
  ASSERT_TRUE(base::Log::Instance().SetFile("").ok());
}

TEST_F(TlsContextTest, StepsRunOnThreadsOfItsOwn) {
  auto made = TlsContext::Make(files_.Settings());
  ASSERT_TRUE(made.ok());
  context_ = std::move(made).value();
  tls_ = std::make_unique<TlsLoop>(loop_, *context_);
  Connect();
  while (!client_->IsConnected()) Exchange();  // ends when the threads have done their work
  EXPECT_EQ(client_->ServerName(), "server");
}

}  // namespace
}  // namespace nereid::frontend::net
