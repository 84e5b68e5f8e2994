// SPDX-License-Identifier: Apache-2.0
#include "api/access/token.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::api {
namespace {

// RFC 4231 has no such case; computed with Python:
// hmac.new(bytes(range(16)), b"secret", "sha256").hexdigest()
constexpr char kHash[] =
    "hmac-sha256:000102030405060708090a0b0c0d0e0f:"
    "9cc810f633736c73be6be79d4c9b53872b1b01fd14b9fdf17f796ffadbbb613e";

TEST(Token, HashIsHmacSha256) {
  const auto hash = ParseHash(kHash);
  ASSERT_TRUE(hash.has_value());
  EXPECT_TRUE(Matches(*hash, "secret"));
  EXPECT_FALSE(Matches(*hash, "Secret"));
  EXPECT_FALSE(Matches(*hash, "secre"));
  EXPECT_FALSE(Matches(*hash, ""));
  EXPECT_EQ(FormatHash(*hash), kHash);
}

TEST(Token, HashesOfOtherFormsAreRefused) {
  const std::string good = kHash;
  EXPECT_FALSE(ParseHash(""));
  EXPECT_FALSE(ParseHash(good.substr(1)));
  EXPECT_FALSE(ParseHash(good + "0"));
  EXPECT_FALSE(ParseHash(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(ParseHash(good.substr(0, good.size() - 1) + "g"));
  EXPECT_FALSE(ParseHash("sha256:" + good.substr(12)));
  EXPECT_FALSE(ParseHash(good + " "));
}

TEST(Token, NewOnesMatchTheirHash) {
  const auto token = MakeToken("ci");
  ASSERT_TRUE(token.ok());
  const std::string field = "Bearer " + token->text;
  const auto parts = ParseBearer(field);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->name, "ci");
  EXPECT_EQ(parts->secret.size(), 43u);  // 256 bits
  EXPECT_TRUE(Matches(token->hash, parts->secret));
  EXPECT_NE(token->text, MakeToken("ci")->text);
}

TEST(Bearer, FormsOfTheField) {
  for (const char* good : {"Bearer a.b", "bearer a.b", "BEARER   a.b"}) {
    const auto parts = ParseBearer(good);
    ASSERT_TRUE(parts.has_value()) << good;
    EXPECT_EQ(parts->name, "a");
    EXPECT_EQ(parts->secret, "b");
  }
  const std::string long_name(kMaxTokenName + 1, 'a');
  const std::string long_secret(kMaxTokenSecret + 1, 'a');
  for (const std::string& bad :
       std::vector<std::string>{"", "Bearer", "Bearer ", "Bearer a", "Bearer a.", "Bearer .b",
                                "Bearer a.b.c", "Bearer a.b ", "Bearer a.b,c", "Bearera.b",
                                "Basic a.b", "Bearer\ta.b", "Bearer " + long_name + ".b",
                                "Bearer a." + long_secret, "Bearer a.\xc3\xa4", "Bearer a b.c"}) {
    EXPECT_FALSE(ParseBearer(bad)) << bad;
  }
  EXPECT_FALSE(ParseBearer(std::string_view("Bearer a.b\0c", 12)));
}

}  // namespace
}  // namespace nereid::api
