// SPDX-License-Identifier: Apache-2.0
#include "base/percent_text.h"

#include <gtest/gtest.h>

namespace nereid::base {
namespace {

TEST(PercentEncode, EncodesAllButUnreservedBytes) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b/c+d%\xC3\xA9"), "a%20b%2Fc%2Bd%25%C3%A9");
  EXPECT_EQ(PercentEncode("a b/c", true), "a%20b/c");
  EXPECT_EQ(PercentEncode(std::string(1, '\0')), "%00");
}

TEST(PercentDecode, IsTheInverse) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentDecode("a+b%2b%2B"), "a+b++");
  EXPECT_EQ(PercentDecode("a+b%2b", true), "a b+");
  for (const char* bad : {"%", "%1", "a%", "%g0", "%0g", "%%20"}) {
    EXPECT_EQ(PercentDecode(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace nereid::base
