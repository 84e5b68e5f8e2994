// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::base {
namespace {

size_t PlainBytes(const std::string& text) {
  return static_cast<size_t>(FindJsonSpecial(text.data(), text.data() + text.size()) - text.data());
}

TEST(JsonTextTest, FindsEveryByteThatNeedsAnEscapeInEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool special = byte < 0x20 || c == '"' || c == '\\';
    EXPECT_EQ(NeedsJsonEscape(c), special) << byte;
    for (size_t size = 1; size <= 20; ++size) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, 'a');
        text[at] = c;
        EXPECT_EQ(PlainBytes(text), special ? at : size) << byte << " at " << at << " of " << size;
      }
    }
  }
}

TEST(JsonTextTest, FindsTheFirstOfSeveral) {
  // Neighbours whose differences borrow from each other.
  const std::vector<std::string> texts = {"\x1f\x20\x1f",     "aaaaaaa\"",       "aaaaaa!\"",
                                          "\x80\x80\x80\"",   "a\"#\"#",         "[\\]\\",
                                          "\xff\xff\x1f\x20", "!!!!!!!!\x01\"\\"};
  for (const std::string& text : texts) {
    size_t expected = 0;
    while (expected < text.size() && !NeedsJsonEscape(text[expected])) ++expected;
    const std::string padded = text + std::string(16, 'z');
    EXPECT_EQ(PlainBytes(text), expected) << text;
    if (expected < text.size()) {
      EXPECT_EQ(PlainBytes(padded), expected) << text;
    }
  }
}

TEST(JsonTextTest, EscapesCharactersThatJsonStringsCannotContain) {
  EXPECT_EQ(JsonQuote("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(JsonQuote(std::string_view("\0\b\f\r\t\x1f\x7f\xff", 8)),
            "\"\\u0000\\b\\f\\r\\t\\u001F\x7f\uFFFD\"");
  EXPECT_EQ(JsonQuote(""), "\"\"");
}

TEST(JsonTextTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(JsonQuote("a\xff\xc3\xa4\xe2\x82"), "\"a\uFFFD\u00E4\uFFFD\uFFFD\"");
  EXPECT_EQ(JsonQuote("\xc3\"\n\xff"), "\"\uFFFD\\\"\\n\uFFFD\"");
}

TEST(JsonTextTest, NothingIsNotRead) { EXPECT_EQ(FindJsonSpecial(nullptr, nullptr), nullptr); }

}  // namespace
}  // namespace nereid::base
