// SPDX-License-Identifier: Apache-2.0
#include "codec/json/plain_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::codec::json {
namespace {

size_t PlainBytes(const std::string& text) {
  return static_cast<size_t>(FindSpecial(text.data(), text.data() + text.size()) - text.data());
}

TEST(PlainTextTest, FindsEveryByteThatNeedsAnEscapeInEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool special = byte < 0x20 || c == '"' || c == '\\';
    EXPECT_EQ(NeedsEscape(c), special) << byte;
    for (size_t size = 1; size <= 20; ++size) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, 'a');
        text[at] = c;
        EXPECT_EQ(PlainBytes(text), special ? at : size) << byte << " at " << at << " of " << size;
      }
    }
  }
}

TEST(PlainTextTest, FindsTheFirstOfSeveral) {
  // Neighbours whose differences borrow from each other.
  const std::vector<std::string> texts = {"\x1f\x20\x1f",     "aaaaaaa\"",       "aaaaaa!\"",
                                          "\x80\x80\x80\"",   "a\"#\"#",         "[\\]\\",
                                          "\xff\xff\x1f\x20", "!!!!!!!!\x01\"\\"};
  for (const std::string& text : texts) {
    size_t expected = 0;
    while (expected < text.size() && !NeedsEscape(text[expected])) ++expected;
    const std::string padded = text + std::string(16, 'z');
    EXPECT_EQ(PlainBytes(text), expected) << text;
    if (expected < text.size()) {
      EXPECT_EQ(PlainBytes(padded), expected) << text;
    }
  }
}

TEST(PlainTextTest, NothingIsNotRead) { EXPECT_EQ(FindSpecial(nullptr, nullptr), nullptr); }

}  // namespace
}  // namespace nereid::codec::json
