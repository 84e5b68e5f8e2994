// SPDX-License-Identifier: Apache-2.0
#include "codec/compression/compression.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace nereid::codec::compression {
namespace {

using Outcome = Inflated::Outcome;

std::string Pack(const std::string& text, Encoding encoding, int level = kDefaultLevel) {
  const size_t half = text.size() / 2;
  const tensor::ByteSpan pieces[] = {
      {text.data(), half}, {}, {text.data() + half, text.size() - half}};
  std::string packed;
  const base::Status status = Deflate(pieces, encoding, level, [&](std::string_view bytes) {
    packed += bytes;
    return true;
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return packed;
}

std::string MixedText() {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 1000);
  return text;
}

TEST(Encoding, HasNames) {
  for (const Encoding encoding : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    EXPECT_EQ(FindEncoding(EncodingName(encoding)), encoding);
  }
  for (const char* name : {"", "br", "Gzip", " gzip", "gzip,deflate"}) {
    EXPECT_FALSE(FindEncoding(name).has_value()) << name;
  }
}

TEST(Inflate, RestoresWhatWasDeflatedBehindTheOffset) {
  const std::string text = MixedText();
  for (const Encoding encoding : {Encoding::kDeflate, Encoding::kGzip}) {
    for (const int level : {kDefaultLevel, 1, 9}) {
      const std::string packed = Pack(text, encoding, level);
      EXPECT_LT(packed.size(), text.size());
      for (const size_t offset : {0, 24}) {
        const Inflated plain = Inflate(packed, encoding, offset, text.size());
        ASSERT_EQ(plain.outcome, Outcome::kDone);
        EXPECT_EQ(std::string_view(plain.buffer.data() + offset, plain.size), text);
      }
    }
  }
}

TEST(Inflate, HandlesNothing) {
  for (const Encoding encoding : {Encoding::kDeflate, Encoding::kGzip}) {
    const Inflated plain = Inflate(Pack("", encoding), encoding, 0, 0);
    EXPECT_EQ(plain.outcome, Outcome::kDone);
    EXPECT_EQ(plain.size, 0u);
    EXPECT_EQ(Inflate("", encoding, 0, 10).outcome, Outcome::kIncomplete);
  }
}

TEST(Inflate, TakesTheEncodingAskedForOrEither) {
  const std::string gzip = Pack("text", Encoding::kGzip);
  const std::string deflate = Pack("text", Encoding::kDeflate);
  EXPECT_EQ(Inflate(gzip, Encoding::kDeflate, 0, 100).outcome, Outcome::kDamaged);
  EXPECT_EQ(Inflate(deflate, Encoding::kGzip, 0, 100).outcome, Outcome::kDamaged);
  EXPECT_EQ(Inflate(gzip, std::nullopt, 0, 100).outcome, Outcome::kDone);
  EXPECT_EQ(Inflate(deflate, std::nullopt, 0, 100).outcome, Outcome::kDone);
}

TEST(Inflate, StopsAtTheLimit) {
  const std::string packed = Pack(std::string(10'000'000, 'a'), Encoding::kGzip);
  const Inflated cut = Inflate(packed, Encoding::kGzip, 8, 1'000'000);
  EXPECT_EQ(cut.outcome, Outcome::kTooLarge);
  EXPECT_LE(cut.buffer.size(), 1'000'009u);
  EXPECT_EQ(Inflate(packed, Encoding::kGzip, 0, 9'999'999).outcome, Outcome::kTooLarge);
  EXPECT_EQ(Inflate(packed, Encoding::kGzip, 0, 10'000'000).outcome, Outcome::kDone);
  EXPECT_EQ(Inflate(packed, Encoding::kGzip, 0, UINT64_MAX).outcome, Outcome::kDone);
}

TEST(Inflate, ChargesItsMemoryToTheBudget) {
  const std::string packed = Pack(std::string(10'000'000, 'a'), Encoding::kGzip);
  const auto budget = std::make_shared<base::ByteBudget>(20'000'000, std::chrono::milliseconds(0));
  {
    const Inflated held = Inflate(packed, Encoding::kGzip, 0, UINT64_MAX, budget);
    ASSERT_EQ(held.outcome, Outcome::kDone);
    EXPECT_EQ(Inflate(packed, Encoding::kGzip, 0, UINT64_MAX, budget).outcome,
              Outcome::kOverBudget);
  }
  EXPECT_EQ(Inflate(packed, Encoding::kGzip, 0, UINT64_MAX, budget).outcome, Outcome::kDone);
}

TEST(InflationLimit, FollowsThePackedSizeBeyondWhatIsFree) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  EXPECT_EQ(InflationLimit(0, UINT64_MAX), 64 * kMiB);
  EXPECT_EQ(InflationLimit(kMiB, UINT64_MAX), 64 * kMiB);
  EXPECT_EQ(InflationLimit(2 * kMiB, UINT64_MAX), 128 * kMiB);
  EXPECT_EQ(InflationLimit(2 * kMiB, 100), 100u);
  EXPECT_EQ(InflationLimit(SIZE_MAX, UINT64_MAX), UINT64_MAX);
}

TEST(Inflate, NoticesWhatIsMissingAlteredOrLeftOver) {
  const std::string packed = Pack(std::string(1000, 'a'), Encoding::kGzip);
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_EQ(Inflate(packed.substr(0, size), Encoding::kGzip, 0, 10'000).outcome,
              Outcome::kIncomplete)
        << size;
  }
  EXPECT_EQ(Inflate("this is not packed", Encoding::kGzip, 0, 100).outcome, Outcome::kDamaged);
  std::string altered = packed;
  altered[altered.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(Inflate(altered, Encoding::kGzip, 0, 10'000).outcome, Outcome::kDamaged);
}

TEST(Inflate, ReadsAllMembersOfGzip) {
  const std::string text = MixedText();
  const std::string packed = Pack(text, Encoding::kGzip);
  const std::string empty = Pack("", Encoding::kGzip);
  const std::string members = empty + packed + empty + Pack("tail", Encoding::kGzip);
  for (const std::optional<Encoding> encoding : {std::optional(Encoding::kGzip), {}}) {
    const Inflated plain = Inflate(members, encoding, 8, text.size() + 4);
    ASSERT_EQ(plain.outcome, Outcome::kDone);
    EXPECT_EQ(std::string_view(plain.buffer.data() + 8, plain.size), text + "tail");
    EXPECT_EQ(Inflate(members, encoding, 8, text.size() + 3).outcome, Outcome::kTooLarge);
  }
  for (size_t cut = 1; cut < empty.size(); ++cut) {
    EXPECT_EQ(Inflate(packed + empty.substr(0, cut), std::nullopt, 0, 1'000'000).outcome,
              Outcome::kIncomplete)
        << cut;
  }
}

TEST(Inflate, RefusesWhatFollowsTheData) {
  const std::string gzip = Pack("text", Encoding::kGzip);
  const std::string deflate = Pack("text", Encoding::kDeflate);
  for (const std::string& rest : {std::string("x"), std::string(4, '\0'), std::string("\x1f\x8c"),
                                  std::string("\x1f\x8b garbage"), deflate}) {
    EXPECT_EQ(Inflate(gzip + rest, Encoding::kGzip, 0, 100).outcome, Outcome::kDamaged);
    EXPECT_EQ(Inflate(gzip + rest, std::nullopt, 0, 100).outcome, Outcome::kDamaged);
    EXPECT_EQ(Inflate(deflate + rest, Encoding::kDeflate, 0, 100).outcome, Outcome::kDamaged);
    EXPECT_EQ(Inflate(deflate + rest, std::nullopt, 0, 100).outcome, Outcome::kDamaged);
  }
  // The zlib format has no members.
  EXPECT_EQ(Inflate(deflate + gzip, std::nullopt, 0, 100).outcome, Outcome::kDamaged);
}

TEST(Deflate, EndsWhenTheSinkIsFull) {
  const std::string text = MixedText();
  const tensor::ByteSpan piece{text.data(), text.size()};
  int calls = 0;
  const base::Status status =
      Deflate({&piece, 1}, Encoding::kGzip, kDefaultLevel, [&](std::string_view) {
        ++calls;
        return false;
      });
  EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace nereid::codec::compression
