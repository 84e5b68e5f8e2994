// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/terminal_text.h"

#include <gtest/gtest.h>

namespace nereid::app::tools {
namespace {

TEST(TerminalText, ShowsWhatWouldControlTheTerminal) {
  EXPECT_EQ(TerminalText("resnet \xc3\xa9\xe6\xa8\xa1"), "resnet \xc3\xa9\xe6\xa8\xa1");
  EXPECT_EQ(TerminalText("a\x1b[2Jb\a\x7f\r\nc\t"), "a\\x1b[2Jb\\x07\\x7f\\x0d\\nc\\x09");
  EXPECT_EQ(TerminalText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(TerminalText("\xc2\x9b"
                         "31m"),
            "\\x9b31m");  // CSI as one character of Latin-1
  EXPECT_EQ(TerminalText("\xe2\x80\xae"
                         "txt\xe2\x81\xa6"),
            "\\u202etxt\\u2066");
  EXPECT_EQ(TerminalText("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(TerminalText, HasABound) {
  EXPECT_EQ(TerminalText("abcd", 4), "abcd");
  EXPECT_EQ(TerminalText("abcde", 4), "abcd...");
  EXPECT_EQ(TerminalText("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9...");
  EXPECT_LT(TerminalText(std::string(1 << 20, '\x1b'), 100).size(), 500u);
}

TEST(ByteText, Units) {
  EXPECT_EQ(ByteText(0), "0 B");
  EXPECT_EQ(ByteText(1023), "1023 B");
  EXPECT_EQ(ByteText(1536), "1.5 KiB");
  EXPECT_EQ(ByteText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(ByteText(uint64_t{12} << 30), "12.0 GiB");
  EXPECT_EQ(ByteText(UINT64_MAX), "16.0 EiB");
}

TEST(Columns, AreAlignedByCharacters) {
  EXPECT_EQ(Columns({{"MODEL", "STATE"}, {"\xc3\xa9", "READY"}, {"longer", ""}}),
            "MODEL   STATE\n\xc3\xa9       READY\nlonger\n");
  EXPECT_EQ(Columns({}), "");
}

}  // namespace
}  // namespace nereid::app::tools
