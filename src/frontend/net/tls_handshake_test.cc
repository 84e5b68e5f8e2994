// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "frontend/net/testing/tls_fixture.h"

namespace nereid::frontend::net {
namespace {

using testing::Certificate;
using testing::Issue;
using testing::TlsClient;

class TlsHandshakeTest : public testing::TlsTest {
 protected:
  TlsHandshakeTest() {
    on_readable_ = [this] { last_ = Read(100); };
  }
  /// Connects a client that the server should refuse, and returns the alert.
  std::string AlertFor(const TlsClient::Options& options) {
    Connect(options);
    Exchange();
    EXPECT_NE(inner_->output_ended, lost_ != 0 || readable_ != 0);  // time to read the alert
    inner_->at_end = State::kEnded;                                 // the client closes
    Turn();
    EXPECT_EQ(last_.state, State::kLost);
    return client_->alert();
  }
  bool Accepts(const TlsClient::Options& options) {
    if (stream_ != nullptr) stream_->Close();
    Connect(options);
    Exchange();
    if (!client_->IsConnected() || !client_->alert().empty()) return false;
    client_->Write("hello");
    Exchange();
    return last_.size == 5 && buffer_ == "hello";
  }

  ByteStream::Outcome last_ = {};
};

TEST_F(TlsHandshakeTest, TheOwnerSeesNothingOfIt) {
  Connect();
  EXPECT_EQ(Read(10).state, State::kBlocked);
  EXPECT_EQ(Write("early").state, State::kBlocked);
  stream_->AwaitWritable();
  inner_->input += client_->TakeOutput();
  Turn();
  EXPECT_EQ(steps_.size(), 1u);
  EXPECT_EQ(Write("early").state, State::kBlocked);
  EXPECT_EQ(readable_ + writable_ + lost_, 0);
  on_writable_ = [this] { EXPECT_EQ(Write("early").size, 5u); };
  Exchange();
  EXPECT_TRUE(client_->IsConnected());
  EXPECT_EQ(writable_, 1);
  EXPECT_EQ(client_->Read(), "early");
}

TEST_F(TlsHandshakeTest, NothingIsComputedOnTheLoop) {
  Connect();
  inner_->input += client_->TakeOutput();
  Turn();
  Turn();
  EXPECT_EQ(inner_->output, "");
  ASSERT_EQ(steps_.size(), 1u);
  steps_.front().run();
  EXPECT_EQ(inner_->output, "");  // the bytes go out on the loop
  steps_.clear();
  loop_.RunTurn();
  EXPECT_NE(inner_->output, "");
}

TEST_F(TlsHandshakeTest, MayComeByteByByte) {
  for (const int version : {0, TLS1_2_VERSION}) {
    if (stream_ != nullptr) stream_->Close();
    Connect({.authority = files_.authority, .max_version = version});
    for (int i = 0; i < 10'000 && !client_->IsConnected(); ++i) {
      for (const char byte : client_->TakeOutput()) {
        inner_->input += byte;
        Turn();
        RunSteps();
        loop_.RunTurn();
      }
      client_->Receive(std::exchange(inner_->output, {}));
    }
    Exchange();
    EXPECT_TRUE(client_->IsConnected());
    EXPECT_EQ(client_->alert(), "");
  }
}

TEST_F(TlsHandshakeTest, NothingRunsBeforeTheFirstRecordIsComplete) {
  Connect();
  const std::string hello = client_->TakeOutput();
  inner_->input = hello.substr(0, hello.size() - 1);
  Turn();
  EXPECT_EQ(steps_.size(), 0u);
  inner_->input = hello.substr(hello.size() - 1);
  Turn();
  EXPECT_EQ(steps_.size(), 1u);
}

TEST_F(TlsHandshakeTest, AnAnswerThatDoesNotFitFollowsLater) {
  Connect();
  inner_->room = 100;
  inner_->input = client_->TakeOutput();
  Turn();
  RunSteps();
  loop_.RunTurn();
  EXPECT_EQ(inner_->output.size(), 100u);
  EXPECT_TRUE(inner_->awaits_writable);
  inner_->room = SIZE_MAX;
  Exchange();
  EXPECT_TRUE(client_->IsConnected());
}

TEST_F(TlsHandshakeTest, WhatIsNotTlsIsLostWithoutASession) {
  for (const std::string bytes : {"GET / HTTP/1.1\r\n\r\n", "\x80\x2e\x01\x03\x01", "\x16\x02",
                                  "\x16\x03\x01\xff\xff", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    last_ = {};
    Connect();
    inner_->input = bytes;
    Turn();
    EXPECT_EQ(last_.state, State::kLost) << bytes;
    EXPECT_EQ(steps_.size(), 0u);
    stream_->Close();
    EXPECT_TRUE(inner_->closed);
  }
}

TEST_F(TlsHandshakeTest, GarbageInARecordIsAnsweredWithAnAlert) {
  Connect();
  inner_->input = std::string("\x16\x03\x01\x00\x06garbag", 11);
  client_->TakeOutput();
  Exchange();
  EXPECT_NE(client_->alert() + inner_->output, "");
  inner_->at_end = State::kEnded;
  Turn();
  EXPECT_EQ(last_.state, State::kLost);
}

TEST_F(TlsHandshakeTest, AClientThatGoesIsLost) {
  for (const State end : {State::kEnded, State::kLost}) {
    last_ = {};
    Connect();
    inner_->input = client_->TakeOutput().substr(0, 50);
    Turn();
    inner_->at_end = end;
    Turn();
    EXPECT_EQ(last_.state, State::kLost);
    stream_->Close();
  }
}

TEST_F(TlsHandshakeTest, HasATimeLimit) {
  Connect();
  clock_.Advance(TlsStream::kHandshakeNs - 1);
  loop_.RunTurn();
  EXPECT_EQ(readable_, 0);
  clock_.Advance(1);
  loop_.RunTurn();
  EXPECT_EQ(last_.state, State::kLost);
  EXPECT_FALSE(inner_->closed);  // the owner does that
}

TEST_F(TlsHandshakeTest, TheTimeLimitEndsAStepThatWaits) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  ASSERT_EQ(steps_.size(), 1u);
  clock_.Advance(TlsStream::kHandshakeNs);
  loop_.RunTurn();
  EXPECT_EQ(last_.state, State::kLost);
  EXPECT_TRUE(steps_.front().is_abandoned());
}

TEST_F(TlsHandshakeTest, AnOpenConnectionHasNoTimeLimit) {
  Establish();
  clock_.Advance(100 * TlsStream::kHandshakeNs);
  loop_.RunTurn();
  EXPECT_EQ(readable_ + lost_, 0);
}

TEST_F(TlsHandshakeTest, MayBeClosedWhileAStepRuns) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  ASSERT_EQ(steps_.size(), 1u);
  const auto step = std::move(steps_.front());
  steps_.clear();
  stream_.reset();
  EXPECT_TRUE(step.is_abandoned());
  step.run();  // it was running already
  loop_.RunTurn();
  EXPECT_EQ(readable_ + writable_ + lost_, 0);
}

TEST_F(TlsHandshakeTest, AClientThatGoesWhileItsStepWaitsIsLostAndTheStepDropped) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  ASSERT_EQ(steps_.size(), 1u);
  inner_->at_end = State::kEnded;
  Turn();
  EXPECT_EQ(last_.state, State::kLost);
  EXPECT_TRUE(steps_.front().is_abandoned());
}

TEST_F(TlsHandshakeTest, BytesThatComeDuringAStepAreForTheNextOne) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  auto first = std::move(steps_.front());
  steps_.clear();
  first.run();
  loop_.RunTurn();
  client_->Receive(std::exchange(inner_->output, {}));
  client_->Write("at once");
  const std::string rest = client_->TakeOutput();  // the end of the handshake, and data
  inner_->input = rest.substr(0, 10);
  Turn();
  ASSERT_EQ(steps_.size(), 1u);
  inner_->input = rest.substr(10);
  Turn();  // while the step waits
  EXPECT_FALSE(inner_->wants_reading);
  EXPECT_EQ(steps_.size(), 1u);
  Exchange();
  EXPECT_TRUE(inner_->wants_reading);
  EXPECT_EQ(buffer_, "at once");
}

TEST_F(TlsHandshakeTest, ALoopThatHasEndedDropsTheEndOfAStep) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  const auto step = std::move(steps_.front());
  steps_.clear();
  stream_->Close();
  loop_.inbox()->Close();
  step.run();
}

TEST_F(TlsHandshakeTest, IsLostWhenNoThreadTakesItsStep) {
  Connect();
  refuses_steps_ = true;
  inner_->input = client_->TakeOutput();
  Turn();
  EXPECT_EQ(last_.state, State::kLost);
}

TEST_F(TlsHandshakeTest, OnlySoManyWaitForTheirFirstStep) {
  Serve();
  std::vector<std::unique_ptr<ByteStream>> others;
  for (size_t i = 0; i < TlsContext::kMaxNotBegun; ++i) {
    Connect();
    inner_->input = client_->TakeOutput();
    inner_->owner->OnReadable();
    others.push_back(std::move(stream_));
  }
  EXPECT_EQ(steps_.size(), TlsContext::kMaxNotBegun);
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  EXPECT_EQ(last_.state, State::kLost);
  EXPECT_EQ(steps_.size(), TlsContext::kMaxNotBegun);
  stream_->Close();
  for (const auto& other : others) other->Close();
  RunSteps();  // all of them are dropped, so there is room again
  EXPECT_TRUE(Accepts({.authority = files_.authority}));
}

TEST_F(TlsHandshakeTest, TheOldestOfTooManyIsGivenUp) {
  Serve(files_.Settings(), /*max_waiting=*/2);
  Connect();
  const auto oldest = std::move(stream_);
  Connect();
  const auto second = std::move(stream_);
  EXPECT_EQ(readable_, 0);
  stream_ = nullptr;
  on_readable_ = [&] {
    char byte = 0;
    EXPECT_EQ(oldest->Read({&byte, 1}).state, State::kLost);
    oldest->Close();
  };
  Connect();
  EXPECT_EQ(readable_, 1);
  on_readable_ = nullptr;
  Exchange();  // the newest is served
  EXPECT_TRUE(client_->IsConnected());
  second->Close();
}

TEST_F(TlsHandshakeTest, HandshakesEndWhenTheServerStops) {
  Connect();
  tls_->BeginDrain();
  EXPECT_EQ(last_.state, State::kLost);
  stream_->Close();
}

TEST_F(TlsHandshakeTest, AStepThatRunsWhenTheServerStopsIsTheLast) {
  Connect();
  inner_->input = client_->TakeOutput();
  Turn();
  tls_->BeginDrain();
  EXPECT_EQ(readable_, 0);
  RunSteps();
  loop_.RunTurn();
  EXPECT_EQ(last_.state, State::kLost);
}

TEST_F(TlsHandshakeTest, SelectsTheProtocolThatBothKnow) {
  const std::string h1 = "\x08http/1.1", h2 = "\x02h2", other = "\x05other";
  struct Row {
    std::vector<std::string> ours;
    bool required;
    std::string offered;
    std::string selected;  // "refused": with an alert
  };
  for (const Row& row : std::vector<Row>{{{"http/1.1"}, false, "", ""},
                                         {{"http/1.1"}, false, h2 + h1, "http/1.1"},
                                         {{"http/1.1"}, false, h2, "refused"},
                                         {{"h2"}, true, h2, "h2"},
                                         {{"h2"}, true, h1 + h2, "h2"},
                                         {{"h2"}, true, h1, "refused"},
                                         {{"h2"}, true, other, "refused"},
                                         {{"h2"}, true, "", "refused"},
                                         {{"h2", "http/1.1"}, false, h1 + h2, "h2"}}) {
    TlsSettings settings = files_.Settings();
    settings.protocols = row.ours;
    settings.protocol_is_required = row.required;
    Serve(settings);
    last_ = {};
    lost_ = readable_ = 0;
    const TlsClient::Options options = {.authority = files_.authority, .protocols = row.offered};
    if (row.selected == "refused") {
      EXPECT_EQ(AlertFor(options), "no application protocol") << row.offered;
    } else {
      EXPECT_TRUE(Accepts(options)) << row.offered;
      EXPECT_EQ(client_->Protocol(), row.selected) << row.offered;
    }
    stream_->Close();
    stream_.reset();
  }
}

TEST_F(TlsHandshakeTest, OldVersionsAreRefused) {
  EXPECT_EQ(AlertFor({.authority = files_.authority, .max_version = TLS1_1_VERSION}),
            "protocol version");
}

TEST_F(TlsHandshakeTest, MutualTlsNamesTheClient) {
  Serve(files_.Settings(/*mutual=*/true));
  for (const int version : {0, TLS1_2_VERSION}) {
    EXPECT_TRUE(Accepts(
        {.authority = files_.authority, .certificate = files_.client, .max_version = version}));
    EXPECT_EQ(stream_->peer().tls_subject, "CN=client,O=test");
    EXPECT_EQ(stream_->peer().address, "192.0.2.1:1000");
  }
}

TEST_F(TlsHandshakeTest, WithoutMutualTlsNobodyIsNamed) {
  EXPECT_TRUE(Accepts({.authority = files_.authority, .certificate = files_.client}));
  EXPECT_EQ(stream_->peer().tls_subject, "");
}

TEST_F(TlsHandshakeTest, MutualTlsRefusesClientsThatCannotShowWhoTheyAre) {
  const Certificate other_authority = Issue("other");
  struct Row {
    Certificate certificate;
    std::string alert;
  };
  for (const Row& row :
       std::vector<Row>{{{}, "certificate required"},
                        {Issue("stranger", &other_authority), "unknown CA"},
                        {Issue("old", &files_.authority, -60), "certificate expired"}}) {
    Serve(files_.Settings(/*mutual=*/true));
    last_ = {};
    lost_ = readable_ = 0;
    EXPECT_EQ(AlertFor({.authority = files_.authority, .certificate = row.certificate}), row.alert);
    stream_->Close();
    stream_.reset();
  }
}

TEST_F(TlsHandshakeTest, SessionsAreResumedAndStillNameTheClient) {
  Serve(files_.Settings(/*mutual=*/true));
  for (const int version : {0, TLS1_2_VERSION}) {
    TlsClient::Options options = {
        .authority = files_.authority, .certificate = files_.client, .max_version = version};
    ASSERT_TRUE(Accepts(options));
    EXPECT_FALSE(client_->resumed());
    client_->Read();  // takes the tickets
    SSL_SESSION* const session = client_->TakeSession();
    options.session = session;
    EXPECT_TRUE(Accepts(options));
    EXPECT_TRUE(client_->resumed());
    EXPECT_EQ(stream_->peer().tls_subject, "CN=client,O=test");
    SSL_SESSION_free(session);
  }
}

TEST_F(TlsHandshakeTest, ASessionOfAnEarlierCertificateIsNotResumed) {
  TlsClient::Options options = {.authority = files_.authority};
  ASSERT_TRUE(Accepts(options));
  client_->Read();
  SSL_SESSION* const session = client_->TakeSession();
  files_.Write("server.pem", files_.server.text);
  clock_.Advance(TlsContext::kCheckIntervalNs);
  options.session = session;
  EXPECT_TRUE(Accepts(options));
  EXPECT_FALSE(client_->resumed());
  SSL_SESSION_free(session);
}

}  // namespace
}  // namespace nereid::frontend::net
