// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/digests.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

TEST(Digests, EqualPublishedValues) {
  EXPECT_EQ(HexOf(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // RFC 4231, test case 2.
  EXPECT_EQ(HexOf(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Base64, EqualsRfc4648) {
  const std::pair<const char*, const char*> cases[] = {
      {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(Base64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
  EXPECT_EQ(DecodeBase64(" Zm9v\n"), "foo");
  EXPECT_EQ(Base64Url("\xFB\xFF\xFE"), "-__-");
  EXPECT_EQ(Base64Url("f"), "Zg");
  for (const char* bad : {"", "Z", "Zg", "Zg=", "Z===", "Zm9v Zm9v", "Zm9!"}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

TEST(SignRs256, RefusesWhatIsNoKey) {
  for (const char* key : {"", "secret", "-----BEGIN PRIVATE KEY-----\nAAAA\n"}) {
    const auto signature = SignRs256(key, "data");
    EXPECT_EQ(signature.status().code(), base::StatusCode::kInvalidArgument);
    EXPECT_EQ(signature.status().message().find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace nereid::repository::storage
