// SPDX-License-Identifier: Apache-2.0
#include "repository/version_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::repository {
namespace {

using base::Status;
using ::testing::ElementsAre;

const ModelId kModel{"m"};

/// A model that tells the switch when it is destroyed, and remembers its successor.
class TracedModel : public LoadedModel {
 public:
  TracedModel(VersionSwitch& table, int64_t version, uint64_t generation)
      : table_(table), version_(version), generation_(generation) {}
  ~TracedModel() override { table_.NoteDestroyed(kModel, version_, generation_); }

  const config::ModelConfig& config() const override { return *config_; }
  Status CheckReady() override { return Status::Ok(); }
  void Succeed(const std::shared_ptr<LoadedModel>& predecessor) override {
    predecessors.push_back(predecessor.get());
  }
  void OnRemoved(const LoadedModel* successor) override { successors.push_back(successor); }

  std::vector<const LoadedModel*> predecessors, successors;

 private:
  VersionSwitch& table_;
  const int64_t version_;
  const uint64_t generation_;
  config::ModelConfigPtr config_;
};

class VersionSwitchTest : public ::testing::Test {
 protected:
  /// As the switch asks of its owner: no model that reports to it outlives it.
  void TearDown() override { switch_.Retire(kModel); }

  std::shared_ptr<TracedModel> Make(int64_t version, uint64_t generation) {
    return std::make_shared<TracedModel>(switch_, version, generation);
  }
  std::string StatesText() {
    std::string text;
    const auto table = switch_.Table();
    const VersionRecords* records = table->FindVersions(kModel);
    if (records == nullptr) return "unknown";
    for (const auto& [version, record] : *records) {
      text += (text.empty() ? "" : " ") + std::to_string(version) + "/" +
              std::string(VersionStateText(record.state()));
      if (!record.reason().empty()) text += "/" + record.reason();
    }
    return text;
  }
  /// Versions of one load; null stands for a version that failed.
  static LoadedVersions Loaded(std::map<int64_t, std::shared_ptr<LoadedModel>> models) {
    LoadedVersions loaded;
    for (auto& [version, model] : models) {
      if (model == nullptr) {
        loaded.emplace(version, Status::Internal("no"));
      } else {
        loaded.emplace(version, std::move(model));
      }
    }
    return loaded;
  }

  VersionSwitch switch_{false};
};

TEST_F(VersionSwitchTest, TheFirstLoadIsSeenWhileItRuns) {
  switch_.BeginLoading(kModel, {1, 2}, 1);
  EXPECT_EQ(StatesText(), "1/LOADING 2/LOADING");
  switch_.Replace(kModel, Loaded({{1, Make(1, 1)}, {2, Make(2, 1)}}), 1);
  EXPECT_EQ(StatesText(), "1/READY 2/READY");
  EXPECT_THAT(switch_.ReadyVersions(kModel), ElementsAre(1, 2));
  switch_.BeginLoading(kModel, {1, 3}, 2);
  EXPECT_EQ(StatesText(), "1/READY 2/READY") << "a load beside what serves is not seen";
}

TEST_F(VersionSwitchTest, AReplacedVersionIsToldOfItsSuccessor) {
  const auto first = Make(1, 1);
  const auto second = Make(2, 1);
  switch_.Replace(kModel, Loaded({{1, first}, {2, second}}), 1);
  const auto next = Make(2, 2);
  switch_.Replace(kModel, Loaded({{2, next}}), 2);
  EXPECT_THAT(first->successors, ElementsAre(nullptr));
  EXPECT_THAT(second->successors, ElementsAre(next.get()));
  EXPECT_EQ(StatesText(), "1/UNLOADING 2/READY");
  EXPECT_EQ(switch_.ServingModel(kModel, 1), nullptr);
  EXPECT_EQ(switch_.ServingModel(kModel, 2), next);
}

TEST_F(VersionSwitchTest, ANewVersionSucceedsTheOneThatItsRequestsHaveReached) {
  const auto first = Make(1, 1);
  const auto second = Make(2, 1);
  switch_.Replace(kModel, Loaded({{1, first}, {2, second}}), 1);
  const auto again = Make(2, 2);
  const auto third = Make(3, 2);
  switch_.Replace(kModel, Loaded({{2, again}, {3, third}}), 2);
  EXPECT_THAT(again->predecessors, ElementsAre(second.get()));
  EXPECT_THAT(third->predecessors, ElementsAre(second.get())) << "of requests without a version";
  EXPECT_THAT(first->successors, ElementsAre(nullptr)) << "requests named it";
  EXPECT_THAT(second->successors, ElementsAre(again.get()));
  const auto fourth = Make(4, 3);
  switch_.Replace(kModel, Loaded({{4, fourth}}), 3);
  EXPECT_THAT(fourth->predecessors, ElementsAre(third.get()));
  EXPECT_THAT(third->successors, ElementsAre(fourth.get()));
  EXPECT_THAT(again->successors, ElementsAre(nullptr));
}

TEST_F(VersionSwitchTest, ARetiredVersionIsUnavailableWhenItsLastHolderHasLetItGo) {
  auto held = Make(1, 1);
  switch_.Replace(kModel, Loaded({{1, held}}), 1);
  EXPECT_TRUE(switch_.Retire(kModel));
  EXPECT_EQ(StatesText(), "1/UNLOADING");
  held.reset();
  EXPECT_EQ(StatesText(), "1/UNAVAILABLE/unloaded");
}

TEST_F(VersionSwitchTest, ALateEndOfAnEarlierModelChangesNothing) {
  auto held = Make(1, 1);
  switch_.Replace(kModel, Loaded({{1, held}}), 1);
  switch_.Replace(kModel, Loaded({{1, Make(1, 2)}}), 2);
  held.reset();
  EXPECT_EQ(StatesText(), "1/READY");
}

TEST_F(VersionSwitchTest, AFailureKeepsWhatServesAndNoneOfTheNew) {
  switch_.Replace(kModel, Loaded({{1, Make(1, 1)}}), 1);
  switch_.NoteFailure(kModel, Loaded({{1, Make(1, 2)}, {2, nullptr}, {3, Make(3, 2)}}), 2);
  EXPECT_EQ(StatesText(), "1/READY 2/UNAVAILABLE/Internal: no 3/UNAVAILABLE/unloaded");
}

TEST_F(VersionSwitchTest, AModelWithoutAVersionIsForgottenWhenItIsRetired) {
  switch_.AddModel(kModel);
  EXPECT_EQ(StatesText(), "");
  EXPECT_FALSE(switch_.Table()->AllReady());
  EXPECT_TRUE(switch_.Retire(kModel));
  EXPECT_EQ(StatesText(), "unknown");
}

TEST_F(VersionSwitchTest, AnUnknownModelLeavesTheTableAsItIs) {
  const auto table = switch_.Table();
  EXPECT_FALSE(switch_.Retire(kModel));
  EXPECT_EQ(switch_.Table(), table);
}

TEST_F(VersionSwitchTest, ATableThatWasTakenStays) {
  switch_.Replace(kModel, Loaded({{1, Make(1, 1)}}), 1);
  const auto table = switch_.Table();
  switch_.Retire(kModel);
  EXPECT_TRUE(table->Find(kModel, 1).ok());
  EXPECT_FALSE(switch_.Table()->Find(kModel, 1).ok());
}

}  // namespace
}  // namespace nereid::repository
