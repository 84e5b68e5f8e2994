// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_stream.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <string>
#include <vector>

#include "base/testing/failing_allocation.h"
#include "frontend/net/testing/tls_fixture.h"

namespace nereid::frontend::net {
namespace {

using testing::TlsClient;

/// The stream after the handshake.
class TlsStreamTest : public testing::TlsTest {
 protected:
  void SetUp() override { Establish(); }

  /// Gives the client's bytes to the server's side without telling the owner.
  void Deliver() { inner_->input += client_->TakeOutput(); }
};

TEST_F(TlsStreamTest, MovesBytesInBothDirections) {
  client_->Write("question");
  Deliver();
  auto got = Read(100);
  EXPECT_EQ(buffer_, "question");
  EXPECT_EQ(got.state, State::kBlocked);  // known to be all
  EXPECT_EQ(Read(100).state, State::kBlocked);
  EXPECT_EQ(Write("answer").size, 6u);
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "answer");
}

TEST_F(TlsStreamTest, SmallPiecesShareARecordAndAWrite) {
  const int writes = inner_->writes;
  std::string head = "head ", text = "text ", tail = "tail";
  const iovec pieces[] = {
      {head.data(), head.size()}, {text.data(), text.size()}, {nullptr, 0}, {tail.data(), 4}};
  EXPECT_EQ(stream_->Write(pieces).size, 14u);
  EXPECT_EQ(inner_->writes, writes + 1);
  EXPECT_EQ(inner_->output.size(), 14u + 22);  // RFC 8446, section 5.2, with a 16-byte tag
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "head text tail");
}

TEST_F(TlsStreamTest, LargePiecesAreWrittenInBatches) {
  const std::string large(1'000'000, 'x');
  std::string small = "small";
  std::string sent;
  for (size_t done = 0; done < large.size();) {
    const iovec pieces[] = {{small.data(), done == 0 ? small.size() : 0},
                            {const_cast<char*>(large.data()) + done, large.size() - done}};
    const auto wrote = stream_->Write(pieces);
    ASSERT_EQ(wrote.state, State::kOpen);
    done += wrote.size - (done == 0 ? small.size() : 0);
    client_->Receive(std::exchange(inner_->output, {}));
    sent += client_->Read();
  }
  EXPECT_EQ(sent, "small" + large);
}

TEST_F(TlsStreamTest, BytesCountAsWrittenWhenTheyHaveLeft) {
  inner_->room = 10;
  const std::string text(1000, 'x');
  EXPECT_EQ(Write(text).state, State::kBlocked);
  stream_->AwaitWritable();
  EXPECT_TRUE(inner_->awaits_writable);
  EXPECT_EQ(Write(text).state, State::kBlocked);
  EXPECT_EQ(writable_, 0);
  inner_->room = SIZE_MAX;
  Turn();
  EXPECT_EQ(writable_, 1);
  auto wrote = Write(text + "and more");
  EXPECT_EQ(wrote.size, 1000u);
  EXPECT_EQ(wrote.state, State::kOpen);
  EXPECT_EQ(Write("and more").size, 8u);
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), text + "and more");
}

TEST_F(TlsStreamTest, TheOwnerIsToldWhenAllThatIsOwedHasGone) {
  inner_->room = 10;
  EXPECT_EQ(Write(std::string(1000, 'x')).state, State::kBlocked);
  stream_->AwaitWritable();
  for (int i = 0; i < 5; ++i) {
    inner_->room = 10;
    Turn();
    EXPECT_EQ(writable_, 0);
  }
  inner_->room = SIZE_MAX;
  Turn();
  Turn();
  EXPECT_EQ(writable_, 1);
}

TEST_F(TlsStreamTest, WhatWaitsInTheSessionIsToldUntilItIsRead) {
  client_->Write(std::string(1000, 'a'));
  Deliver();
  EXPECT_EQ(Read(10).state, State::kOpen);
  for (int turns = 1; turns <= 3; ++turns) {
    Turn();
    EXPECT_EQ(readable_, turns);
  }
  stream_->SetReading(false);
  Turn();
  EXPECT_EQ(readable_, 3);
  stream_->SetReading(true);
  Turn();
  EXPECT_EQ(readable_, 4);
  EXPECT_EQ(Read(2000).size, 990u);
  Turn();
  EXPECT_EQ(readable_, 4);
}

TEST_F(TlsStreamTest, BytesThatCameWithTheHandshakeAreTold) {
  stream_->Close();
  Connect();
  for (int i = 0; i < 50 && !client_->IsConnected(); ++i) {
    inner_->input += client_->TakeOutput();
    Turn();
    RunSteps();
    loop_.RunTurn();
    client_->Receive(std::exchange(inner_->output, {}));
  }
  client_->Write("at once");  // goes with the end of the handshake
  Deliver();
  std::string seen;
  on_readable_ = [&] {
    Read(100);
    seen += buffer_;
  };
  Exchange();
  EXPECT_EQ(seen, "at once");
}

TEST_F(TlsStreamTest, ManyRecordsAreReadAtOnce) {
  std::string all;
  for (int i = 0; i < 100; ++i) {
    client_->Write(std::to_string(i) + " ");
    all += std::to_string(i) + " ";
  }
  Deliver();
  EXPECT_EQ(Read(10'000).state, State::kBlocked);
  EXPECT_EQ(buffer_, all);
}

TEST_F(TlsStreamTest, ARecordInPiecesIsReadWhenItIsComplete) {
  client_->Write("piecemeal");
  const std::string record = client_->TakeOutput();
  for (const char byte : record.substr(0, record.size() - 1)) {
    inner_->input += byte;
    const auto got = Read(100);
    EXPECT_EQ(got.size, 0u);
    EXPECT_EQ(got.state, State::kBlocked);
  }
  inner_->input += record.back();
  Read(100);
  EXPECT_EQ(buffer_, "piecemeal");
}

TEST_F(TlsStreamTest, AnAnnouncedEndIsAnEnd) {
  client_->Write("last words");
  client_->EndOutput();
  Deliver();
  Read(100);
  EXPECT_EQ(buffer_, "last words");
  Turn();
  EXPECT_EQ(readable_, 1);
  EXPECT_EQ(Read(100).state, State::kEnded);
  EXPECT_EQ(Write("answer").size, 6u);  // the client may still read
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "answer");
}

TEST_F(TlsStreamTest, AnEndThatWasNotAnnouncedIsALoss) {
  client_->Write("last words");
  Deliver();
  inner_->at_end = State::kEnded;
  Read(100);
  EXPECT_EQ(buffer_, "last words");
  EXPECT_EQ(Read(100).state, State::kLost);
  EXPECT_EQ(Read(100).state, State::kLost);
  EXPECT_EQ(Write("answer").state, State::kLost);
}

TEST_F(TlsStreamTest, ChangedBytesAreALoss) {
  client_->Write("authentic");
  inner_->input = client_->TakeOutput();
  inner_->input[8] = static_cast<char>(inner_->input[8] ^ 1);
  EXPECT_EQ(Read(100).state, State::kLost);
  client_->Receive(inner_->output);
  client_->Read();
  EXPECT_EQ(client_->alert(), "bad record mac");
}

TEST_F(TlsStreamTest, GarbageIsALoss) {
  inner_->input = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(Read(100).state, State::kLost);
}

TEST_F(TlsStreamTest, ALossThatNothingAwaitsIsTold) {
  stream_->SetReading(false);
  EXPECT_FALSE(inner_->wants_reading);
  inner_->owner->OnLost();
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(Read(1).state, State::kLost);
}

TEST_F(TlsStreamTest, ALossIsToldByWhatIsAwaited) {
  stream_->AwaitWritable();
  on_writable_ = [this] { EXPECT_EQ(Write("x").state, State::kLost); };
  on_readable_ = [this] { EXPECT_EQ(Read(1).state, State::kLost); };
  inner_->owner->OnLost();
  EXPECT_EQ(writable_, 1);
  EXPECT_EQ(readable_, 1);
  EXPECT_EQ(lost_, 0);
}

TEST_F(TlsStreamTest, TheOwnerMayDestroyTheStreamInEachCall) {
  on_writable_ = [this] { stream_.reset(); };
  stream_->AwaitWritable();
  inner_->owner->OnLost();
  EXPECT_EQ(writable_, 1);
  EXPECT_EQ(readable_, 0);
  on_readable_ = [this] { stream_.reset(); };
  Establish();
  client_->Write("x");
  Deliver();
  inner_->owner->OnReadable();
  EXPECT_EQ(stream_, nullptr);
}

TEST_F(TlsStreamTest, CloseAnnouncesTheEnd) {
  Write("answer");
  stream_->Close();
  EXPECT_TRUE(inner_->closed);
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "answer");
  EXPECT_TRUE(client_->server_has_ended());
  EXPECT_EQ(Read(1).state, State::kLost);
  EXPECT_EQ(Write("x").state, State::kLost);
}

TEST_F(TlsStreamTest, CloseAnnouncesNoEndIfBytesAreMissing) {
  inner_->room = 100;
  EXPECT_EQ(Write(std::string(1000, 'x')).state, State::kBlocked);
  inner_->room = SIZE_MAX;
  stream_->Close();
  client_->Receive(inner_->output);
  client_->Read();
  EXPECT_FALSE(client_->server_has_ended());
}

TEST_F(TlsStreamTest, EndsItsOutputAndReadsOn) {
  stream_->EndOutput();
  EXPECT_TRUE(inner_->output_ended);
  client_->Receive(std::exchange(inner_->output, {}));
  client_->Read();
  EXPECT_TRUE(client_->server_has_ended());
  client_->Write("still talking");
  Deliver();
  EXPECT_EQ(Read(100).size, 13u);
  stream_->Close();
  EXPECT_EQ(inner_->output, "");  // the end is announced once
}

TEST_F(TlsStreamTest, TheEndOfTheOutputFollowsWhatIsOwed) {
  inner_->room = 0;
  stream_->EndOutput();
  EXPECT_FALSE(inner_->output_ended);
  inner_->room = SIZE_MAX;
  Turn();
  EXPECT_TRUE(inner_->output_ended);
}

TEST_F(TlsStreamTest, NewKeysAreMadeWhenTheClientWantsThem) {
  client_->UpdateKeys();
  client_->Write("with new keys");
  Deliver();
  EXPECT_EQ(Read(100).size, 13u);
  EXPECT_EQ(Write("answer").size, 6u);
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "answer");
}

// Each record makes work and has no content.
TEST_F(TlsStreamTest, AFloodOfNewKeysIsALoss) {
  for (int i = 0; i < 2000; ++i) client_->UpdateKeys();
  Deliver();
  const size_t all = inner_->input.size();
  EXPECT_EQ(Read(100).state, State::kLost);
  EXPECT_GT(inner_->input.size(), all / 2);
  EXPECT_LT(inner_->output.size(), 2000u);
}

TEST_F(TlsStreamTest, ALoopIsNotHeldUpByARecordForEachByte) {
  const std::string all(5000, 'x');
  for (const char byte : all) client_->Write({&byte, 1});
  Deliver();
  std::string seen;
  int turns = 0;
  on_readable_ = [&] {
    ++turns;
    const size_t before = seen.size();
    while (Read(100).size != 0) seen += buffer_;
    EXPECT_LE(seen.size() - before, 2048u);
  };
  for (int i = 0; i < 10 && seen.size() < all.size(); ++i) Turn();
  EXPECT_EQ(seen, all);
  EXPECT_GE(turns, 3);
}

TEST_F(TlsStreamTest, ProbesThePeerOfTheSocket) {
  stream_->ProbePeer(std::chrono::seconds(1));
  EXPECT_EQ(stream_->peer().address, "192.0.2.1:1000");
}

TEST_F(TlsStreamTest, WithoutMemoryOnlyTheConnectionIsLost) {
  inner_->room = 10;
  const std::string text(1000, 'x');
  tls_->output().reserve(4000);
  ByteStream::Outcome wrote;
  {
    const base::testing::FailingAllocation failing;
    wrote = Write(text);
  }
  EXPECT_EQ(wrote.state, State::kLost);
}

/// TLS 1.2, which has renegotiation.
class Tls12StreamTest : public testing::TlsTest {
 protected:
  void SetUp() override {
    Connect({.authority = files_.authority, .max_version = TLS1_2_VERSION});
    Exchange();
    ASSERT_TRUE(client_->IsConnected());
  }
};

TEST_F(Tls12StreamTest, MovesBytesInBothDirections) {
  on_readable_ = [this] { Read(100); };
  client_->Write("question");
  Exchange();
  EXPECT_EQ(readable_, 1);
  EXPECT_EQ(Write("answer").size, 6u);
  client_->Receive(inner_->output);
  EXPECT_EQ(client_->Read(), "answer");
}

TEST_F(Tls12StreamTest, RenegotiationIsRefused) {
  client_->Renegotiate();
  inner_->input = client_->TakeOutput();
  EXPECT_EQ(Read(100).size, 0u);
  EXPECT_EQ(steps_.size(), 0u);
  EXPECT_LT(inner_->output.size(), 100u);  // an alert, no handshake
  client_->Receive(inner_->output);
  client_->Read();
  EXPECT_EQ(client_->alert(), "no renegotiation");
}

}  // namespace
}  // namespace nereid::frontend::net
