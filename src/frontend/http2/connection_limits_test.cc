// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/connection_limits.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <memory>

namespace nereid::frontend::http2 {
namespace {

using Verdict = ConnectionLimits::Verdict;
constexpr uint64_t kSecondNs = 1'000'000'000;

class ConnectionLimitsTest : public ::testing::Test {
 protected:
  ConnectionLimitsTest() {
    options_.max_concurrent_streams = 10;
    options_.max_head_size = 1000;
  }

  Verdict Receive(uint8_t type, size_t length = 0, uint8_t flags = 0, bool has_calls = true) {
    return limits().FrameReceived(type, length, flags, has_calls);
  }

  // Returns how many such frames are allowed one after the other.
  int CountAllowed(uint8_t type, size_t length = 0, uint8_t flags = 0) {
    int count = 0;
    while (count < 100'000 && Receive(type, length, flags) == Verdict::kAllowed) ++count;
    return count;
  }

  ConnectionLimits& limits() {
    if (limits_ == nullptr) limits_ = std::make_unique<ConnectionLimits>(options_, clock_);
    return *limits_;
  }

  SessionOptions options_;
  base::FakeClock clock_;
  std::unique_ptr<ConnectionLimits> limits_;
};

TEST_F(ConnectionLimitsTest, ControlFramesHaveABurstAndARate) {
  EXPECT_EQ(CountAllowed(NGHTTP2_SETTINGS), 2000);
  EXPECT_EQ(Receive(NGHTTP2_PRIORITY), Verdict::kFlood);
  clock_.Advance(kSecondNs);
  EXPECT_EQ(CountAllowed(NGHTTP2_SETTINGS), 100);
}

TEST_F(ConnectionLimitsTest, CallsPayForControlFrames) {
  CountAllowed(NGHTTP2_SETTINGS);
  EXPECT_EQ(Receive(NGHTTP2_HEADERS), Verdict::kAllowed);
  EXPECT_EQ(Receive(NGHTTP2_DATA, 5), Verdict::kAllowed);
  EXPECT_EQ(CountAllowed(NGHTTP2_SETTINGS), 2);
}

TEST_F(ConnectionLimitsTest, EmptyDataIsAControlFrameUnlessItEndsTheStream) {
  EXPECT_EQ(CountAllowed(NGHTTP2_DATA, 0), 2000);
  EXPECT_EQ(Receive(NGHTTP2_DATA, 0, NGHTTP2_FLAG_END_STREAM), Verdict::kAllowed);
}

TEST_F(ConnectionLimitsTest, ResetsOfBothSidesCountTogether) {
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(Receive(NGHTTP2_RST_STREAM, 4), Verdict::kAllowed);
    EXPECT_EQ(limits().FrameSent(NGHTTP2_RST_STREAM, NGHTTP2_PROTOCOL_ERROR), Verdict::kAllowed);
  }
  EXPECT_EQ(limits().FrameSent(NGHTTP2_RST_STREAM, NGHTTP2_NO_ERROR), Verdict::kAllowed);
  EXPECT_EQ(CountAllowed(NGHTTP2_RST_STREAM, 4), 10);  // the burst is 1000 above the streams
  EXPECT_EQ(limits().FrameSent(NGHTTP2_RST_STREAM, NGHTTP2_CANCEL), Verdict::kFlood);
  limits().StreamClosed(NGHTTP2_CANCEL);
  EXPECT_EQ(Receive(NGHTTP2_RST_STREAM, 4), Verdict::kFlood);
  limits().StreamClosed(NGHTTP2_NO_ERROR);
  EXPECT_EQ(Receive(NGHTTP2_RST_STREAM, 4), Verdict::kAllowed);
}

TEST_F(ConnectionLimitsTest, PingsAreStrikesAndAnswersToPingsAreNot) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Receive(NGHTTP2_PING, 8), Verdict::kAllowed);
  EXPECT_EQ(Receive(NGHTTP2_PING, 8), Verdict::kTooManyPings);
  EXPECT_EQ(Receive(NGHTTP2_PING, 8, NGHTTP2_FLAG_ACK), Verdict::kAllowed);
  limits().FrameSent(NGHTTP2_DATA, 0);
  EXPECT_EQ(Receive(NGHTTP2_PING, 8), Verdict::kAllowed);
}

TEST_F(ConnectionLimitsTest, HeadersAreReadUpToTwiceTheLimit) {
  EXPECT_TRUE(limits().MayReadHead(2000));
  EXPECT_FALSE(limits().MayReadHead(2001));
  EXPECT_TRUE(limits().MayReadTrailer(1500));
  EXPECT_FALSE(limits().MayReadTrailer(501));
  limits().BeginTrailers();
  EXPECT_TRUE(limits().MayReadTrailer(2000));
}

TEST_F(ConnectionLimitsTest, SeveralIncompleteMessagesMayHoldHalfOfTheBudget) {
  options_.receive_budget = std::make_shared<base::ByteBudget>(1000, std::chrono::milliseconds(0));
  IncompleteBytes& incomplete = limits().incomplete();
  EXPECT_TRUE(incomplete.Change(0, 900));  // alone it may
  EXPECT_FALSE(incomplete.Change(0, 1));   // with another it may not
  EXPECT_TRUE(incomplete.Change(900, 400));
  EXPECT_TRUE(incomplete.Change(1, 100));
  EXPECT_FALSE(incomplete.Change(100, 101));
  EXPECT_TRUE(incomplete.Change(400, 0));
}

}  // namespace
}  // namespace nereid::frontend::http2
