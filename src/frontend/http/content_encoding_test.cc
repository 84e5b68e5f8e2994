// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/content_encoding.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace nereid::frontend::http {
namespace {

std::string Packed(const std::string& text, Encoding encoding) {
  const tensor::ByteSpan pieces[] = {
      {text.data(), text.size() / 2},
      {text.data() + text.size() / 2, text.size() - text.size() / 2}};
  codec::json::TextBuffer out;
  EXPECT_TRUE(Compress(pieces, encoding, &out).ok());
  return std::string(out.view());
}

TEST(Compression, RoundTrip) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 1000);
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const std::string packed = Packed(text, encoding);
    EXPECT_LT(packed.size(), text.size());
    const auto body = Decompress(packed, 24, text.size());
    ASSERT_TRUE(body.ok()) << body.status().message();
    EXPECT_EQ(body->view(), text);
    EXPECT_EQ(body->offset, 24u);
  }
}

TEST(Compression, BombsStopAtTheLimit) {
  const std::string packed = Packed(std::string(10'000'000, 'a'), Encoding::kGzip);
  const auto body = Decompress(packed, 0, 1'000'000);
  EXPECT_EQ(body.status().message(),
            "Decompressed data size exceeds the maximum allowed value of 1000000 bytes. Use "
            "--http-max-input-size to increase the limit.");
}

TEST(Compression, BombsStopAtTheRatioAndTheBudget) {
  const std::string packed = Packed(std::string(80'000'000, 'a'), Encoding::kGzip);
  EXPECT_EQ(Decompress(packed, 0, 1'000'000'000).status().message(),
            "the compressed request body of " + std::to_string(packed.size()) +
                " bytes inflates to more than 67108864 bytes. Compress it less, or send it "
                "uncompressed.");
  const auto budget =
      std::make_shared<base::ByteBudget>(size_t{1} << 20, std::chrono::milliseconds{0});
  base::ByteShare others;
  ASSERT_TRUE(budget->Take(1000, false, &others));
  const auto refused = Decompress(packed, 0, 1'000'000'000, budget);
  EXPECT_EQ(refused.status().code(), base::StatusCode::kUnavailable);
  EXPECT_NE(refused.status().message().find("--max-request-memory"), std::string::npos);
}

TEST(Compression, BrokenData) {
  EXPECT_EQ(Decompress("", 0, 100).status().message(), "nothing to be decompressed");
  EXPECT_EQ(Decompress("this is not packed", 0, 100).status().code(),
            base::StatusCode::kInvalidArgument);
  const std::string packed = Packed(std::string(1000, 'a'), Encoding::kGzip);
  EXPECT_FALSE(Decompress(packed.substr(0, packed.size() - 9), 0, 10'000).ok());
  EXPECT_EQ(Decompress(packed + "garbage", 0, 10'000).status().code(),
            base::StatusCode::kInvalidArgument);
}

TEST(Compression, AcceptEncoding) {
  EXPECT_EQ(BestEncoding(""), Encoding::kIdentity);
  EXPECT_EQ(BestEncoding("gzip"), Encoding::kGzip);
  EXPECT_EQ(BestEncoding("deflate, gzip"), Encoding::kDeflate);
  EXPECT_EQ(BestEncoding("deflate;q=0.5, gzip;q=0.8"), Encoding::kGzip);
  EXPECT_EQ(BestEncoding("br, *"), Encoding::kIdentity);
  EXPECT_EQ(BestEncoding("gzip;q=0"), Encoding::kIdentity);
  EXPECT_EQ(BestEncoding("deflate;q=0.2, gzip;q=0.8x"), Encoding::kDeflate) << "0.8x is no weight";
  EXPECT_EQ(BestEncoding(" identity , gzip;q=0.9"), Encoding::kIdentity);
}

}  // namespace
}  // namespace nereid::frontend::http
