// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/settle_planner.h"

#include <gtest/gtest.h>

namespace nereid::repository {
namespace {

using Verdict = SettlePlanner::Verdict;

const ModelId kModel{"m"};

/// A planner with a settle time of 10 and scans of one model, each of which takes no time.
class SettlePlannerTest : public ::testing::Test {
 protected:
  Verdict At(uint64_t now, const ModelSight& sight) {
    return planner_.Decide({{kModel, sight}}, now, now).at(kModel);
  }
  Verdict At(uint64_t now, uint64_t fingerprint) {
    return At(now, ModelSight{.fingerprint = fingerprint});
  }
  SettlePlanner planner_{10};
};

TEST_F(SettlePlannerTest, FilesMustBeStillForTheSettleTime) {
  EXPECT_EQ(At(100, 1), Verdict::kWait);
  EXPECT_EQ(planner_.NextDueNs(), 110u);
  EXPECT_EQ(At(109, 1), Verdict::kWait);
  EXPECT_EQ(At(110, 1), Verdict::kAccept);
  EXPECT_EQ(planner_.NextDueNs(), std::nullopt);
}

TEST_F(SettlePlannerTest, EachChangeBeginsTheTimeAnew) {
  At(100, 1);
  EXPECT_EQ(At(109, 2), Verdict::kWait);
  EXPECT_EQ(At(110, 2), Verdict::kWait);
  EXPECT_EQ(planner_.NextDueNs(), 119u);
  EXPECT_EQ(At(119, 1), Verdict::kWait) << "a change back is a change";
  EXPECT_EQ(At(129, 1), Verdict::kAccept);
}

TEST_F(SettlePlannerTest, AModelThatIsAsItWasAcceptedIsForgotten) {
  At(100, 1);
  planner_.Decide({}, 105, 105);
  EXPECT_EQ(planner_.NextDueNs(), std::nullopt);
  EXPECT_EQ(At(110, 1), Verdict::kWait);
}

TEST_F(SettlePlannerTest, TheTimeOfASlowScanDoesNotCount) {
  const std::map<ModelId, ModelSight> sights{{kModel, {.fingerprint = 1}}};
  EXPECT_EQ(planner_.Decide(sights, 100, 108).at(kModel), Verdict::kWait);
  EXPECT_EQ(planner_.Decide(sights, 117, 125).at(kModel), Verdict::kWait);
  EXPECT_EQ(planner_.Decide(sights, 118, 126).at(kModel), Verdict::kAccept);
}

TEST_F(SettlePlannerTest, ADeletionMustLastAsLong) {
  EXPECT_EQ(At(100, {.is_missing = true}), Verdict::kWait);
  EXPECT_EQ(At(105, 1), Verdict::kWait);
  EXPECT_EQ(At(106, {.is_missing = true}), Verdict::kWait);
  EXPECT_EQ(At(115, {.is_missing = true}), Verdict::kWait);
  EXPECT_EQ(At(116, {.is_missing = true}), Verdict::kAccept);
}

TEST_F(SettlePlannerTest, ARenameAndAMatchingListNeedNoTime) {
  EXPECT_EQ(At(100, {.fingerprint = 1, .arrived_whole = true}), Verdict::kAccept);
  EXPECT_EQ(At(101, {.fingerprint = 2, .checksums = ChecksumState::kMatches}), Verdict::kAccept);
}

TEST_F(SettlePlannerTest, AModelThatDiffersFromItsListIsNeverAccepted) {
  const ModelSight differs{
      .fingerprint = 1, .arrived_whole = true, .checksums = ChecksumState::kDiffers, .age_ns = 100};
  EXPECT_EQ(At(100, differs), Verdict::kIncomplete);
  EXPECT_EQ(At(200, differs), Verdict::kIncomplete);
  EXPECT_EQ(planner_.NextDueNs(), std::nullopt);
}

TEST_F(SettlePlannerTest, OldFilesAreAcceptedAtOnce) {
  EXPECT_EQ(At(100, {.fingerprint = 1, .age_ns = 9}), Verdict::kWait);
  EXPECT_EQ(At(101, {.fingerprint = 2, .age_ns = 10}), Verdict::kAccept);
}

TEST_F(SettlePlannerTest, WithoutASettleTimeEveryChangeIsAccepted) {
  planner_ = SettlePlanner(0);
  EXPECT_EQ(At(100, 1), Verdict::kAccept);
  EXPECT_EQ(At(100, {.is_missing = true}), Verdict::kAccept);
  EXPECT_EQ(At(101, {.checksums = ChecksumState::kDiffers}), Verdict::kIncomplete);
}

}  // namespace
}  // namespace nereid::repository
