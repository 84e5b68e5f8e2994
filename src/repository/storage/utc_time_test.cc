// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/utc_time.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

constexpr uint64_t kTime = 1'369'353'600'000;

TEST(UtcTime, IsWritten) {
  EXPECT_EQ(BasicTimeText(kTime), "20130524T000000Z");
  EXPECT_EQ(BasicTimeText(kTime + 86'399'999), "20130524T235959Z");
  EXPECT_EQ(HttpTimeText(kTime), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(HttpTimeText(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(UtcTime, IsRead) {
  EXPECT_EQ(ParseTime("2013-05-24T00:00:00Z"), kTime);
  EXPECT_EQ(ParseTime("2013-05-24T00:00:00.123456Z"), kTime);
  for (const char* bad :
       {"", "Z", "2013-05-24T00:00:00", "2013-05-24 00:00:00Z", "2013-05-24T00:00:00+01:00",
        "2013-05-24T00:00:00.Z", "2013-05-24T00:00:00,5Z", "2013-05-24T00:00:0xZ",
        "1013-05-24T00:00:00Z"}) {
    EXPECT_EQ(ParseTime(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace nereid::repository::storage
