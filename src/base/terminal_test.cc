// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace nereid::base {
namespace {

TEST(TerminalTest, AFileIsNoTerminal) {
  const int descriptor = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(TerminalColumns(descriptor), 0u);
  ::close(descriptor);
}

TEST(TerminalTest, CutsAtCharacters) {
  EXPECT_EQ(CutTo("abc", 0), "abc");
  EXPECT_EQ(CutTo("abc", 3), "abc");
  EXPECT_EQ(CutTo("abcd", 3), "ab…");
  EXPECT_EQ(CutTo("äöüß", 3), "äö…");
  EXPECT_EQ(CutTo("abc", 1), "…");
  EXPECT_EQ(CharacterCount("äb"), 2u);
}

}  // namespace
}  // namespace nereid::base
