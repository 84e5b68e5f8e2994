// SPDX-License-Identifier: Apache-2.0
#include "repository/living_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LivingVersionsTest, AVersionCountsAsOftenAsItWasMade) {
  LivingVersions living;
  LivingVersions::Entry first(living, {"m"}, 1);
  {
    const LivingVersions::Entry second(living, {"m"}, 1);
    EXPECT_THAT(living.WaitUntilGone([] { return true; }), ElementsAre("m:1", "m:1"));
  }
  EXPECT_EQ(living.Count(), 1u);
  first.End();
  first.End();
  EXPECT_THAT(living.List(), IsEmpty());
}

TEST(LivingVersionsTest, AnEntryThatHasEndedMayOutliveTheList) {
  std::optional<LivingVersions> living(std::in_place);
  LivingVersions::Entry entry(*living, {"m", "/r"}, 2);
  std::thread end([&] { entry.End(); });
  EXPECT_THAT(living->WaitUntilGone([] { return false; }), IsEmpty());
  living.reset();
  end.join();
}

}  // namespace
}  // namespace nereid::repository
