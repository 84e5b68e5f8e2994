// SPDX-License-Identifier: Apache-2.0
#include "handover/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::handover {
namespace {

using base::StatusCode;
using ::testing::HasSubstr;

SequenceMessage MakeSequence() {
  SequenceMessage sequence;
  sequence.hold = "hold";
  sequence.key = {"chat", 3, uint64_t{17}};
  sequence.idle_ns = 1'000'000;
  sequence.states = {{"A", tensor::DataType::kInt32, {1, 2}, std::string("12345678")},
                     {"B", tensor::DataType::kBytes, {}, std::string("\x01\0\0\0x", 5)},
                     {"C", tensor::DataType::kFp32, {0}, ""}};
  return sequence;
}

TEST(MessagesTest, ASequenceComesBack) {
  const SequenceMessage sequence = MakeSequence();
  const auto bytes = Encode(sequence);
  ASSERT_TRUE(bytes.ok());
  const auto read = DecodeSequence(*bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->hold, "hold");
  EXPECT_EQ(read->key, sequence.key);
  EXPECT_EQ(read->idle_ns, 1'000'000u);
  ASSERT_EQ(read->states.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->states[i].name, sequence.states[i].name);
    EXPECT_EQ(read->states[i].data_type, sequence.states[i].data_type);
    EXPECT_EQ(read->states[i].shape, sequence.states[i].shape);
    EXPECT_EQ(read->states[i].bytes, sequence.states[i].bytes);
  }
}

TEST(MessagesTest, TheOthersComeBack) {
  const SequenceKey text{"chat", 0, std::string("user-1")};
  const auto claim = DecodeClaim(Encode(Claim{"a.secret", "me", text}));
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ(claim->secret, "a.secret");
  EXPECT_EQ(claim->replica, "me");
  EXPECT_EQ(claim->key, text);
  const auto end = DecodeSettlement(Encode(Settlement{"a.secret", "hold", true}));
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->takes);
  EXPECT_EQ(end->hold, "hold");
  const auto offer = DecodeOffer(Encode(Offer{"a.secret", "me", {text, text}}));
  ASSERT_TRUE(offer.ok());
  EXPECT_EQ(offer->keys, (std::vector<SequenceKey>{text, text}));
}

TEST(MessagesTest, TheSecretIsReadFirst) {
  const SequenceKey key{"m", 1, uint64_t{1}};
  EXPECT_EQ(SecretOf(Encode(Claim{"a.secret", "me", key})), "a.secret");
  EXPECT_EQ(SecretOf(Encode(Settlement{"b.secret", "hold", false})), "b.secret");
  EXPECT_EQ(SecretOf(Encode(Offer{"c.secret", "me", {}})), "c.secret");
  EXPECT_EQ(SecretOf(*Encode(MakeSequence())), "");
  EXPECT_EQ(SecretOf("a.secret"), "");
}

/// Every message that is cut short, or has a byte more, is refused.
TEST(MessagesTest, EveryCutIsRefused) {
  const std::string whole = *Encode(MakeSequence());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(DecodeSequence(whole.substr(0, size)).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(DecodeSequence(whole + "x").status().message(), HasSubstr("something follows"));
}

TEST(MessagesTest, EveryFaultHasAText) {
  std::string bytes = *Encode(MakeSequence());
  bytes[6] = 2;
  EXPECT_THAT(DecodeSequence(bytes).status().message(), HasSubstr("\"NRDSEQ\" and version 1"));
  EXPECT_THAT(DecodeClaim(*Encode(MakeSequence())).status().message(), HasSubstr("another kind"));

  SequenceMessage sequence = MakeSequence();
  sequence.key.id = uint64_t{0};
  EXPECT_THAT(DecodeSequence(*Encode(sequence)).status().message(), HasSubstr("has no id"));
  sequence = MakeSequence();
  sequence.key.model.clear();
  EXPECT_THAT(DecodeSequence(*Encode(sequence)).status().message(), HasSubstr("has no model"));
  sequence = MakeSequence();
  sequence.states[0].shape = {-1, 2};
  EXPECT_THAT(DecodeSequence(*Encode(sequence)).status().message(), HasSubstr("is negative"));
  sequence.states[0].shape = {1, 2};
  sequence.states[0].data_type = tensor::DataType::kInvalid;
  EXPECT_THAT(DecodeSequence(*Encode(sequence)).status().message(), HasSubstr("type is unknown"));
  sequence.key.id = std::string(129, 'x');
  EXPECT_THAT(DecodeSequence(*Encode(sequence)).status().message(), HasSubstr("too long"));
}

TEST(MessagesTest, ACountIsNotBelieved) {
  std::string offer = Encode(Offer{"s", "r", {}});
  offer[offer.size() - 2] = '\x01';  // one key, and nothing behind it
  EXPECT_THAT(DecodeOffer(offer).status().message(), HasSubstr("a count is too large"));
  offer[offer.size() - 1] = '\x7f';
  EXPECT_THAT(DecodeOffer(offer).status().message(), HasSubstr("a count is too large"));
}

TEST(MessagesTest, ASequenceBeyondTheLimitsIsNotSent) {
  SequenceMessage sequence = MakeSequence();
  sequence.states.resize(kMaxStates + 1);
  const auto bytes = Encode(sequence);
  EXPECT_EQ(bytes.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(bytes.status().message(), HasSubstr("too large to be handed over"));
}

}  // namespace
}  // namespace nereid::handover
