// SPDX-License-Identifier: Apache-2.0
#include "repository/version_state.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace nereid::repository {
namespace {

using enum VersionState;
using enum VersionEvent;

constexpr std::array kStates = {kLoading, kReady, kUnloading, kUnavailable};
constexpr std::array kEvents = {kLoadBegins, kServes, kFails, kIsRetired, kIsDestroyed};
constexpr std::optional<VersionState> kNone = std::nullopt;

TEST(NextStateTest, EachStateAndEachEvent) {
  // By state (rows) and event (columns), in the orders above.
  const std::optional<VersionState> expected[4][5] = {
      {kLoading, kReady, kUnavailable, kNone, kNone},
      {kNone, kNone, kNone, kUnloading, kNone},
      {kLoading, kReady, kUnavailable, kNone, kUnavailable},
      {kLoading, kReady, kUnavailable, kNone, kNone},
  };
  for (size_t state = 0; state < kStates.size(); ++state) {
    for (size_t event = 0; event < kEvents.size(); ++event) {
      EXPECT_EQ(NextState(kStates[state], kEvents[event]), expected[state][event])
          << VersionStateText(kStates[state]) << ", event " << event;
    }
  }
}

TEST(NextStateTest, EachPairOfStates) {
  const std::set<std::pair<VersionState, VersionState>> legal = {
      {kLoading, kLoading},         {kLoading, kReady},       {kLoading, kUnavailable},
      {kReady, kUnloading},         {kUnloading, kLoading},   {kUnloading, kReady},
      {kUnloading, kUnavailable},   {kUnavailable, kLoading}, {kUnavailable, kReady},
      {kUnavailable, kUnavailable},
  };
  for (const VersionState from : kStates) {
    for (const VersionState to : kStates) {
      bool reached = false;
      for (const VersionEvent event : kEvents) reached |= NextState(from, event) == to;
      EXPECT_EQ(reached, legal.contains({from, to}))
          << VersionStateText(from) << " to " << VersionStateText(to);
    }
  }
}

class NoModel : public LoadedModel {
 public:
  const config::ModelConfig& config() const override { return *config_; }
  base::Status CheckReady() override { return base::Status::Ok(); }

 private:
  config::ModelConfigPtr config_;
};

TEST(VersionRecordTest, ALifeFromTheFirstLoadToTheEnd) {
  const auto model = std::make_shared<NoModel>();
  VersionRecord record;
  EXPECT_TRUE(record.BeginLoading(1));
  EXPECT_EQ(record.state(), kLoading);
  EXPECT_TRUE(record.Serve(model, 1));
  EXPECT_EQ(record.state(), kReady);
  EXPECT_EQ(record.model(), model);
  EXPECT_EQ(record.Retire(), model);
  EXPECT_EQ(record.state(), kUnloading);
  EXPECT_EQ(record.model(), nullptr);
  EXPECT_TRUE(record.NoteDestroyed(1));
  EXPECT_EQ(record.state(), kUnavailable);
  EXPECT_EQ(record.reason(), kUnloadedReason);
}

TEST(VersionRecordTest, AFailureLeavesAVersionThatServes) {
  const auto model = std::make_shared<NoModel>();
  VersionRecord record;
  record.Serve(model, 1);
  EXPECT_FALSE(record.Fail("it is bad", 2));
  EXPECT_FALSE(record.BeginLoading(2));
  EXPECT_FALSE(record.Serve(std::make_shared<NoModel>(), 2)) << "it is retired first";
  EXPECT_EQ(record.model(), model);
  EXPECT_EQ(record.reason(), "");
}

TEST(VersionRecordTest, AReasonGoesWithItsState) {
  VersionRecord record;
  EXPECT_TRUE(record.Fail("it is bad", 1));
  EXPECT_EQ(record.reason(), "it is bad");
  EXPECT_TRUE(record.BeginLoading(2));
  EXPECT_EQ(record.reason(), "");
}

TEST(VersionRecordTest, AReportOfAnEarlierLoadChangesNothing) {
  VersionRecord record;
  record.Serve(std::make_shared<NoModel>(), 1);
  record.Retire();
  record.Serve(std::make_shared<NoModel>(), 2);
  EXPECT_FALSE(record.NoteDestroyed(1));
  EXPECT_EQ(record.state(), kReady);
  record.Retire();
  EXPECT_FALSE(record.NoteDestroyed(1));
  EXPECT_EQ(record.state(), kUnloading);
  EXPECT_TRUE(record.NoteDestroyed(2));
}

TEST(VersionRecordTest, NothingServesNothingIsRetired) {
  VersionRecord record;
  EXPECT_EQ(record.Retire(), nullptr);
  EXPECT_EQ(record.state(), kLoading);
}

}  // namespace
}  // namespace nereid::repository
