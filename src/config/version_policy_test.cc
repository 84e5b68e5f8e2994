// SPDX-License-Identifier: Apache-2.0
#include "config/version_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseVersionDirectory, ReadsWholeNumbers) {
  EXPECT_EQ(ParseVersionDirectory("1"), 1);
  EXPECT_EQ(ParseVersionDirectory("0"), 0);
  EXPECT_EQ(ParseVersionDirectory("9223372036854775807"), INT64_MAX);
}

TEST(ParseVersionDirectory, RefusesOtherNames) {
  for (const char* name : {"",           "010",
                           "00",         "abc",
                           "-1",         "+1",
                           " 1",         "configs",
                           "warmup",     "initial_state",
                           ".1",         "9223372036854775808",
                           "1_old",      "1.bak",
                           "1~",         "1 (copy)",
                           "1 ",         "1.0",
                           "2024-01-31", "1e3",
                           "0x1",        "-0",
                           "1-Copy1"}) {
    EXPECT_EQ(ParseVersionDirectory(name), std::nullopt) << name;
  }
}

TEST(WhyNoVersion, SpeaksLikeTriton) {
  EXPECT_EQ(WhyNoVersion("003"), "contains leading zeros in its directory name");
  EXPECT_EQ(WhyNoVersion("0x"), "contains leading zeros in its directory name");
  for (const char* name : {"abc", ".1", "-1", "9223372036854775808", "1_old", "1 (copy)"}) {
    EXPECT_EQ(WhyNoVersion(name), "fails to convert to integral number") << name;
  }
  for (const char* name : {"0", "1", "configs", "warmup", "initial_state"}) {
    EXPECT_EQ(WhyNoVersion(name), "") << name;
  }
}

TEST(SelectVersions, LatestTakesTheGreatest) {
  const std::vector<int64_t> available = {10, 1, 2};
  EXPECT_THAT(SelectVersions(LatestVersions{2}, available).versions, ElementsAre(2, 10));
  EXPECT_THAT(SelectVersions(LatestVersions{9}, available).versions, ElementsAre(1, 2, 10));
  EXPECT_THAT(SelectVersions(LatestVersions{0}, available).versions, IsEmpty());
  EXPECT_THAT(SelectVersions(LatestVersions{1}, {}).versions, IsEmpty());
}

TEST(SelectVersions, AllTakesAllOnce) {
  const std::vector<int64_t> available = {3, 1, 3};
  EXPECT_THAT(SelectVersions(AllVersions{}, available).versions, ElementsAre(1, 3));
}

TEST(SelectVersions, SpecificTellsWhatIsMissing) {
  const std::vector<int64_t> available = {1, 2, 3};
  const auto selection = SelectVersions(SpecificVersions{{3, 7, 1, 3}}, available);
  EXPECT_THAT(selection.versions, ElementsAre(1, 3));
  EXPECT_THAT(selection.missing, ElementsAre(7));
}

}  // namespace
}  // namespace nereid::config
