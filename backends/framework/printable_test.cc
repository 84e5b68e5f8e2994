// SPDX-License-Identifier: Apache-2.0
#include "framework/printable.h"

#include <gtest/gtest.h>

namespace nereid::framework {
namespace {

TEST(Printable, KeepsUtf8AndEscapesOtherBytes) {
  EXPECT_EQ(Printable("a line\n\tof größe"), "a line\n\tof größe");
  EXPECT_EQ(Printable(std::string_view("\0\x1b\x7f", 3)), "\\x00\\x1b\\x7f");
  EXPECT_EQ(Printable("gr\xf6\xdf"
                      "e"),
            "gr\\xf6\\xdfe");
}

TEST(Printable, CutsLongTexts) {
  EXPECT_EQ(Printable("abcd", 4), "abcd");
  EXPECT_EQ(Printable("abcde", 4), "abcd...");
  EXPECT_EQ(Printable("abcö", 4), "abc\\xc3...");  // the cut divides a character
}

}  // namespace
}  // namespace nereid::framework
