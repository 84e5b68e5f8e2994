// SPDX-License-Identifier: Apache-2.0
#include "repository/load_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace nereid::repository {
namespace {

using base::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LoadStatesTest : public ::testing::Test {
 protected:
  /// A plan of one model, which counts how often it is made.
  LoadStates::Planner Plan(const std::string& name, std::set<std::string> members = {}) {
    return [this, name, members](LoadJobs* jobs) {
      EXPECT_THAT(*jobs, IsEmpty());
      ++plans_;
      (*jobs)[{name}].members = members;
      return Status::Ok();
    };
  }
  void AddEnsemble(const std::string& name, const std::string& member) {
    states_.RememberEnsemble({name}, {{}, nullptr, {{member, ModelId{member}}}});
  }

  LoadStates states_{false};
  LoadJobs jobs_;
  std::atomic<int> plans_{0};
};

TEST_F(LoadStatesTest, AFreeModelIsTakenAtOnce) {
  const auto gone = [] { return true; };
  const auto turn = states_.TakeTurn(Plan("a"), gone, &jobs_);
  EXPECT_TRUE(turn.ok()) << "a load that need not wait is not asked whether it is abandoned";
  LoadJobs others;
  EXPECT_TRUE(states_.TakeTurn(Plan("b"), gone, &others).ok());
}

TEST_F(LoadStatesTest, AnAbandonedLoadLeavesTheQueue) {
  const auto turn = states_.TakeTurn(Plan("a"), {}, &jobs_);
  LoadJobs others;
  const auto second = states_.TakeTurn(
      Plan("a"), [] { return true; }, &others);
  EXPECT_EQ(second.status().code(), base::StatusCode::kCancelled);
  EXPECT_EQ(second.status().message(), "the client went away before the load began");
}

TEST_F(LoadStatesTest, AMemberAndACallerAreTakenWithTheModel) {
  AddEnsemble("e", "m");
  const auto turn = states_.TakeTurn(Plan("m", {"part"}), {}, &jobs_);
  for (const char* name : {"m", "e", "part"}) {
    LoadJobs others;
    EXPECT_FALSE(states_
                     .TakeTurn(
                         Plan(name), [] { return true; }, &others)
                     .ok())
        << name;
  }
}

TEST_F(LoadStatesTest, AFailedPlanTakesNothing) {
  const auto fails = [](LoadJobs* jobs) {
    (*jobs)[{"a"}];
    return Status::Internal("no");
  };
  EXPECT_EQ(states_.TakeTurn(fails, {}, &jobs_).status().message(), "no");
  EXPECT_TRUE(states_
                  .TakeTurn(
                      Plan("a"), [] { return true; }, &jobs_)
                  .ok());
}

TEST_F(LoadStatesTest, ALoadThatHasWaitedPlansAnew) {
  std::optional<base::Result<LoadStates::Turn>> turn(states_.TakeTurn(Plan("a"), {}, &jobs_));
  std::promise<void> waits;
  std::atomic<bool> told{false};
  std::thread second([&] {
    LoadJobs others;
    const auto is_abandoned = [&] {
      if (!told.exchange(true)) waits.set_value();
      return false;
    };
    EXPECT_TRUE(states_.TakeTurn(Plan("a"), is_abandoned, &others).ok());
  });
  waits.get_future().wait();
  EXPECT_EQ(plans_, 2);
  turn.reset();
  second.join();
  EXPECT_EQ(plans_, 3);
}

TEST_F(LoadStatesTest, ClientsThatAreAskedMayLookAtTheStates) {
  const auto turn = states_.TakeTurn(Plan("a"), {}, &jobs_);
  LoadJobs others;
  const auto asks = [this] { return states_.ResultOf({"a"}).ok(); };
  EXPECT_FALSE(states_.TakeTurn(Plan("a"), asks, &others).ok()) << "no lock is held meanwhile";
}

TEST_F(LoadStatesTest, AnUnloadForgetsTheEnsemblesThatLeaveAndKeepsTheirCallers) {
  AddEnsemble("inner", "m");
  AddEnsemble("outer", "inner");
  states_.SetResult({"inner"}, Status::Ok());
  const auto unload = states_.TakeUnloadTurn({{"inner"}}, false);
  EXPECT_THAT(unload.plan.order, ElementsAre(ModelId{"outer"}, ModelId{"inner"}));
  EXPECT_EQ(states_.RepeatCallers({{"m"}}, {}).size(), 0u) << "it is forgotten";
  EXPECT_EQ(states_.RepeatCallers({{"inner"}}, {}).size(), 1u) << "its caller comes back with it";
  EXPECT_THAT(states_.ModelsNamed("inner"), ElementsAre(ModelId{"inner"}));
  states_.Forget(unload.plan.leaving);
  EXPECT_THAT(states_.ModelsNamed("inner"), IsEmpty());
}

TEST_F(LoadStatesTest, AWantedMemberStaysWhenItsEnsembleLeaves) {
  AddEnsemble("e", "m");
  states_.SetWanted({"m"});
  EXPECT_THAT(states_.TakeUnloadTurn({{"e"}}, true).plan.order, ElementsAre(ModelId{"e"}));
  EXPECT_THAT(states_.TakeUnloadTurn({{"m"}}, true).plan.order, ElementsAre(ModelId{"m"}));
  AddEnsemble("e", "m");
  EXPECT_THAT(states_.TakeUnloadTurn({{"e"}}, true).plan.order,
              ElementsAre(ModelId{"e"}, ModelId{"m"}));
}

TEST_F(LoadStatesTest, CallersThatWereLoadedAreNotRepeated) {
  AddEnsemble("e", "m");
  AddEnsemble("f", "m");
  LoadJobs done;
  done[{"e"}];
  const LoadJobs again = states_.RepeatCallers({{"m"}}, done);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.begin()->first, ModelId{"f"});
}

TEST_F(LoadStatesTest, ResultsAndBasesAreKeptByModel) {
  EXPECT_TRUE(states_.ResultOf({"a"}).ok());
  EXPECT_EQ(states_.BasisOf({"a"}).config, nullptr);
  states_.SetResult({"a"}, Status::Internal("no"));
  LoadBasis basis;
  basis.files.entries = {{"1", 7}};
  EXPECT_EQ(states_.SetBasis({"a"}, basis, nullptr), nullptr);
  EXPECT_EQ(states_.ResultOf({"a"}).message(), "no");
  EXPECT_EQ(states_.BasisOf({"a"}).files, basis.files);
  states_.Forget({{"a"}});
  EXPECT_TRUE(states_.ResultOf({"a"}).ok());
}

}  // namespace
}  // namespace nereid::repository
