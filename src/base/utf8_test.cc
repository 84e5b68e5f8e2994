// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace nereid::base {
namespace {

using namespace std::string_literals;

TEST(IsUtf8, KnowsTheEdges) {
  for (const std::string& text :
       {""s, "plain text longer than eight"s, "\xc2\x80"s, "\xdf\xbf"s, "\xe0\xa0\x80"s,
        "\xed\x9f\xbf"s, "\xee\x80\x80"s, "\xef\xbf\xbf"s, "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s,
        "12345678\xe2\x82\xac"s}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
    EXPECT_EQ(ReplaceInvalidUtf8(text), text);
  }
  for (const std::string& text :
       {"\x80"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc2"s, "\xe0\x80\x80"s, "\xe0\x9f\xbf"s,
        "\xed\xa0\x80"s, "\xe2\x82"s, "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s,
        "\xff"s, "12345678\xe2\x28\xac"s}) {
    EXPECT_FALSE(IsUtf8(text));
    EXPECT_TRUE(IsUtf8(ReplaceInvalidUtf8(text)));
  }
}

TEST(ReplaceInvalidUtf8, KeepsTheCharactersAround) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xff\xc3\xa4\xc3z"), "a\uFFFD\u00E4\uFFFDz");
  EXPECT_EQ(ReplaceInvalidUtf8("\xe2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(ReplaceInvalidUtf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ReplaceInvalidUtf8("x\0y\xfe"s), "x\0y\uFFFD"s);
}

}  // namespace
}  // namespace nereid::base
