// SPDX-License-Identifier: Apache-2.0
#include "curl/url_text.h"

#include <gtest/gtest.h>

namespace nereid::curl {
namespace {

TEST(UrlWithoutUser, HidesNamesAndPasswords) {
  EXPECT_EQ(UrlWithoutUser("http://u:p@h:1/x"), "http://h:1/x");
  EXPECT_EQ(UrlWithoutUser("u:p@h"), "h");
  EXPECT_EQ(UrlWithoutUser("https://u:p@q@h?x=a@b"), "https://h?x=a@b");
  EXPECT_EQ(UrlWithoutUser("http://h/a@b"), "http://h/a@b");
  EXPECT_EQ(UrlWithoutUser(""), "");
}

TEST(UrlForMessages, HidesQueriesToo) {
  EXPECT_EQ(UrlForMessages("http://u:p@h:1/x?sig=secret"), "http://h:1/x");
  EXPECT_EQ(UrlForMessages("http://h?sig=secret"), "http://h");
  EXPECT_EQ(UrlForMessages("http://h/x#part"), "http://h/x");
  EXPECT_EQ(UrlForMessages("http://h/x"), "http://h/x");
}

}  // namespace
}  // namespace nereid::curl
