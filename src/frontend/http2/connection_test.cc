// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/connection.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/net/testing/manual_loop.h"
#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http2 {
namespace {

using namespace std::string_literals;

const std::string settings = "\0\0\0\4\0\0\0\0\0"s;  // an empty frame
const std::string answer = "\0\0\0\4\1\0\0\0\0"s;    // its acknowledgement

/// A clock on which each look takes a third of a connection's turn.
class HurryingClock final : public base::Clock {
 public:
  uint64_t NowNs() const override { return now_ns_ += step_ns_; }
  uint64_t WallMs() const override { return now_ns_ / 1'000'000; }
  void set_step_ns(uint64_t step_ns) { step_ns_ = step_ns; }

 private:
  uint64_t step_ns_ = TurnBudget::kTurnNs / 3;
  mutable uint64_t now_ns_ = 0;
};

class NoStreams final : public StreamMaker {
 public:
  void BeginHead(const Opening&) override {}
  size_t AddField(std::string_view, std::string_view) override { return 0; }
  std::shared_ptr<Stream> Make(const Opening&) override { return nullptr; }
};

/// A connection on a loop whose turns are the calls of the test.
class ConnectionTest : public ::testing::Test, private Connection::Host {
 protected:
  ConnectionTest() {
    auto stream = std::make_unique<net::testing::MemoryStream>();
    stream_ = stream.get();
    Connection::Host& host = *this;
    connection_ = std::make_shared<Connection>(options_, host, std::move(stream),
                                               std::make_unique<NoStreams>());
    connection_->Start();
  }
  ~ConnectionTest() override { connection_->Close(); }

  /// Returns what the client gets in answer to what it has sent, turn by turn.
  std::vector<std::string> Turns() {
    std::vector<std::string> turns;
    stream_->owner->OnReadable();
    turns.push_back(std::exchange(stream_->output, {}));
    for (int quiet = 0; quiet < 8;) {
      read_buffer_.fill('x');  // as another connection of the loop would
      if (std::exchange(stream_->awaits_writable, false)) stream_->owner->OnWritable();
      if (stream_->output.empty()) loop_.RunTurn();
      quiet = stream_->output.empty() ? quiet + 1 : 0;
      if (!stream_->output.empty()) turns.push_back(std::exchange(stream_->output, {}));
    }
    return turns;
  }

  /// Has the client, whose preface is answered, send empty SETTINGS.
  void SendSettings(size_t frames) {
    stream_->input = NGHTTP2_CLIENT_MAGIC + settings;
    Turns();
    for (size_t i = 0; i < frames; ++i) stream_->input += settings;
  }

  static void ExpectAnswers(const std::vector<std::string>& turns, size_t frames) {
    std::string all, answers;
    for (const std::string& turn : turns) all += turn;
    for (size_t i = 0; i < frames; ++i) answers += answer;
    EXPECT_TRUE(all == answers) << all.size() << " bytes of " << answers.size();
  }

  /// Returns what the client gets because the server stops.
  std::string Drain() {
    connection_->BeginDrain();
    EndTurn();
    return stream_->output;
  }

  HurryingClock clock_;
  net::testing::MemoryStream* stream_ = nullptr;

 private:
  net::EventLoop& event_loop() override { return loop_; }
  std::span<char> read_buffer() override { return read_buffer_; }
  void FlushLater(std::shared_ptr<Connection> connection) override {
    to_flush_.push_back(std::move(connection));
  }
  void EndTurn() override {
    for (const auto& connection : std::exchange(to_flush_, {})) connection->Flush();
  }
  void Closed(Connection&) override {}

  const SessionOptions options_;
  std::array<char, Connection::kReadSize> read_buffer_;
  net::testing::ManualLoop loop_{clock_};
  std::vector<std::shared_ptr<Connection>> to_flush_;
  std::shared_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, TheServerSaysNothingBeforeTheClient) {
  EXPECT_EQ(stream_->writes, 0);
  stream_->input = NGHTTP2_CLIENT_MAGIC + settings;
  EXPECT_EQ(Turns().front().substr(3, 6), "\4\0\0\0\0\0"s) << "its SETTINGS come first";
  EXPECT_EQ(stream_->writes, 1) << "with the answer to those of the client";
}

TEST_F(ConnectionTest, AClientThatHasSaidNothingIsToldThatTheServerStops) {
  const std::string bytes = Drain();
  EXPECT_EQ(bytes.substr(3, 1), "\4"s) << "SETTINGS come first";
  EXPECT_NE(bytes.find("\0\0\b\a\0\0\0\0\0"s), std::string::npos) << "GOAWAY";
}

TEST_F(ConnectionTest, ReadingAndWritingShareOneTurn) {
  clock_.set_step_ns(TurnBudget::kTurnNs);
  SendSettings(300);
  const std::vector<std::string> turns = Turns();
  // The turns take in 512 bytes each until the replies have waited for long enough. The turn in
  // which that is so writes one batch.
  EXPECT_EQ(turns.front().size(), 0);
  ASSERT_GE(turns.size(), 3);
  EXPECT_EQ(turns[1].size(), 128 * answer.size());
  ExpectAnswers(turns, 300);
}

TEST_F(ConnectionTest, RepliesWaitForTheRestOfTheInputButNotForLong) {
  constexpr size_t kFrames = 1000;  // many turns; more would be a flood
  clock_.set_step_ns(TurnBudget::kTurnNs / 2);
  SendSettings(kFrames);
  stream_->writes = 0;
  const std::vector<std::string> turns = Turns();
  ExpectAnswers(turns, kFrames);
  // Each turn takes in three times 512 bytes; every second or third turn writes, 128 replies at
  // once.
  EXPECT_GE(stream_->writes, kFrames / 128);
  EXPECT_LT(stream_->writes, 2 * kFrames / 128);
}

}  // namespace
}  // namespace nereid::frontend::http2
