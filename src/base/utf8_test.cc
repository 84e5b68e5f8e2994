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

TEST(IncompleteUtf8Suffix, CountsTheBytesOfACharacterThatMayStillBeCompleted) {
  for (const std::string& character : {"\u00E4"s, "\u20AC"s, "\U0001F600"s, "\u0800"s, "\uD7FF"s}) {
    for (size_t size = 0; size < character.size(); ++size) {
      EXPECT_EQ(IncompleteUtf8Suffix(character.substr(0, size)), size) << character;
      EXPECT_EQ(IncompleteUtf8Suffix("a\xff" + character.substr(0, size)), size) << character;
    }
    EXPECT_EQ(IncompleteUtf8Suffix(character), 0u) << character;
    EXPECT_EQ(IncompleteUtf8Suffix(character + "z"), 0u) << character;
  }
  for (const std::string& text : {"\x80"s, "\x80\x80\x80"s, "\xff"s, "\xc0"s, "\xe0\x80"s,
                                  "\xed\xa0"s, "\xf4\x90"s, "\xf0\x8f\x80"s, "\xc3\xa4\xa4"s}) {
    EXPECT_EQ(IncompleteUtf8Suffix(text), 0u);
  }
}

TEST(ShortenMiddle, KeepsTheBeginningAndTheEnd) {
  EXPECT_EQ(ShortenMiddle("short\xff", 6), "short\uFFFD");
  const std::string text = "begin" + std::string(1000, '.') + "end";
  const std::string shorter = ShortenMiddle(text, 100);
  EXPECT_LE(shorter.size(), 100u);
  EXPECT_TRUE(shorter.starts_with("begin"));
  EXPECT_TRUE(shorter.ends_with("end"));
  EXPECT_NE(shorter.find("\n... 956 bytes are left out ...\n"), std::string::npos) << shorter;
}

TEST(ShortenMiddle, CutsNoCharacter) {
  for (const std::string& character : {"\u00E4"s, "\u20AC"s, "\U0001F600"s}) {
    std::string text;
    while (text.size() < 500) text += character;
    for (size_t size = 64; size < 110; ++size) {
      const std::string shorter = ShortenMiddle(text, size);
      EXPECT_LE(shorter.size(), size);
      EXPECT_EQ(shorter.find("\uFFFD"), std::string::npos) << shorter;
    }
  }
  EXPECT_TRUE(IsUtf8(ShortenMiddle(std::string(500, '\x80'), 64)));
}

}  // namespace
}  // namespace nereid::base
