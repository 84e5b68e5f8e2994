// SPDX-License-Identifier: Apache-2.0
#include "console/page_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::console {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PageGuard, AnswersItsOwnPages) {
  for (const char* host :
       {"127.0.0.1:8003", "localhost:8003", "LocalHost", "[::1]:8003", "[::1]", "10.0.0.7", ""}) {
    EXPECT_THAT(WhyPageIsRefused({.host = host, .origin = ""}, false), IsEmpty()) << host;
    EXPECT_THAT(WhyPageIsRefused({.host = host, .origin = ""}, true), IsEmpty()) << host;
  }
  EXPECT_THAT(WhyPageIsRefused({"127.0.0.1:8003", "http://127.0.0.1:8003"}, false), IsEmpty());
  EXPECT_THAT(WhyPageIsRefused({"h.example", "https://h.example"}, true), IsEmpty());
}

TEST(PageGuard, RefusesOtherOrigins) {
  for (const bool is_guarded : {false, true}) {
    for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:8000",
                               "http://127.0.0.1", "file://", "http://127.0.0.1:80031"}) {
      EXPECT_THAT(WhyPageIsRefused({"127.0.0.1:8003", origin}, is_guarded),
                  HasSubstr("its own pages only"))
          << origin;
    }
  }
}

TEST(PageGuard, RefusesNamesWithoutRoles) {
  for (const char* host : {"evil.example:8003", "localhost.evil.example", "127.0.0.1.evil.example",
                           "[evil", "0x7f.1", "a"}) {
    EXPECT_THAT(WhyPageIsRefused({.host = host, .origin = ""}, false), HasSubstr("--auth-file"))
        << host;
    EXPECT_THAT(WhyPageIsRefused({.host = host, .origin = ""}, true), IsEmpty()) << host;
  }
}

}  // namespace
}  // namespace nereid::console
