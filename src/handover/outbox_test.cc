// SPDX-License-Identifier: Apache-2.0
#include "handover/outbox.h"

#include <gtest/gtest.h>

#include "handover/testing/fake_sequences.h"

namespace nereid::handover {
namespace {

using base::StatusCode;

const SequenceKey kKey{"m", 1, uint64_t{5}};

class OutboxTest : public ::testing::Test {
 protected:
  /// Claims the sequence and returns the name of its hold.
  std::string Claim() {
    const auto bytes = outbox_.Claim(kKey);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    return bytes.ok() ? DecodeSequence(*bytes)->hold : "";
  }

  base::FakeClock clock_;
  testing::FakeSequences sequences_;
  Outbox outbox_{sequences_, clock_};
};

TEST_F(OutboxTest, ATakenSequenceLeaves) {
  sequences_.sequences[kKey].value = 42;
  const auto bytes = outbox_.Claim(kKey);
  ASSERT_TRUE(bytes.ok());
  const auto message = DecodeSequence(*bytes);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->key, kKey);
  EXPECT_EQ(message->idle_ns, 7u);
  EXPECT_TRUE(outbox_.Holds(kKey));
  EXPECT_FALSE(sequences_.Serves(kKey));
  EXPECT_TRUE(outbox_.Settle(message->hold, true).ok());
  EXPECT_TRUE(sequences_.sequences.empty());
  EXPECT_FALSE(outbox_.Holds(kKey));
  // The answer may have been lost.
  EXPECT_TRUE(outbox_.Settle(message->hold, true).ok());
}

TEST_F(OutboxTest, AReturnedSequenceIsServedAgain) {
  sequences_.sequences[kKey];
  const std::string hold = Claim();
  EXPECT_TRUE(outbox_.Settle(hold, false).ok());
  EXPECT_TRUE(sequences_.Serves(kKey));
  EXPECT_EQ(outbox_.Settle(hold, true).code(), StatusCode::kNotFound);
  EXPECT_TRUE(sequences_.Serves(kKey));
}

TEST_F(OutboxTest, AHoldEndsByItself) {
  sequences_.sequences[kKey];
  const std::string hold = Claim();
  clock_.Advance(Outbox::kHoldNs - 1);
  outbox_.Expire();
  EXPECT_FALSE(sequences_.Serves(kKey));
  clock_.Advance(1);
  outbox_.Expire();
  EXPECT_TRUE(sequences_.Serves(kKey));
  EXPECT_FALSE(outbox_.Holds(kKey));
  EXPECT_EQ(outbox_.Settle(hold, true).code(), StatusCode::kNotFound);
}

TEST_F(OutboxTest, OnlyOneReplicaGetsIt) {
  sequences_.sequences[kKey];
  Claim();
  EXPECT_EQ(outbox_.Claim(kKey).status().code(), StatusCode::kUnavailable);
}

TEST_F(OutboxTest, ASequenceThatEndsMeanwhileIsNotGiven) {
  sequences_.sequences[kKey];
  const std::string hold = Claim();
  sequences_.sequences.clear();
  EXPECT_EQ(outbox_.Settle(hold, true).code(), StatusCode::kNotFound);
  EXPECT_EQ(outbox_.Settle(hold, true).code(), StatusCode::kNotFound);
}

TEST_F(OutboxTest, ErrorsLeaveNothingHeld) {
  EXPECT_EQ(outbox_.Claim(kKey).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(outbox_.Holds(kKey));
  sequences_.sequences[kKey];
  sequences_.take_error = base::Status::Unsupported("no");
  EXPECT_EQ(outbox_.Claim(kKey).status().code(), StatusCode::kUnsupported);
  EXPECT_FALSE(outbox_.Holds(kKey));
  EXPECT_EQ(outbox_.Settle("guessed", true).code(), StatusCode::kNotFound);
}

TEST_F(OutboxTest, TheNumberOfHoldsIsBounded) {
  for (uint64_t i = 1; i <= Outbox::kMaxHolds + 1; ++i) sequences_.sequences[{"m", 1, i}];
  for (uint64_t i = 1; i <= Outbox::kMaxHolds; ++i) {
    ASSERT_TRUE(outbox_.Claim({"m", 1, i}).ok());
  }
  EXPECT_EQ(outbox_.Claim({"m", 1, Outbox::kMaxHolds + 1}).status().code(),
            StatusCode::kUnavailable);
  outbox_.Clear();
  EXPECT_TRUE(sequences_.Serves({"m", 1, uint64_t{1}}));
}

}  // namespace
}  // namespace nereid::handover
