// SPDX-License-Identifier: Apache-2.0
#include "server/version_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "request/testing/make_model.h"
#include "server/model_rollouts.h"
#include "server/served_model.h"

namespace nereid::server {
namespace {

using base::Status;
using base::StatusCode;
using request::RequestFields;
using rollout::Outcome;
using rollout::RolloutPlan;

constexpr char kPlain[] = "name: \"m\" backend: \"b\"";
constexpr char kSequences[] = "name: \"m\" backend: \"b\" sequence_batching { }";
constexpr char kDecoupled[] =
    "name: \"m\" backend: \"b\" model_transaction_policy { decoupled: true }";

/// A version that executes nothing.
class FakeVersion final : public model::ModelVersion {
 public:
  FakeVersion(const char* config, int64_t version) : identity_(*request::MakeModel(config)) {
    identity_.version = version;
    identity_.version_text = std::to_string(version);
  }
  const request::ModelIdentity& identity() const override { return identity_; }
  Status Enqueue(std::unique_ptr<request::InferenceRequest>&) override {
    return Status::Unavailable("not a model");
  }
  bool HasSequence(const request::CorrelationId& id) const override {
    return open.contains(std::get<uint64_t>(id));
  }
  telemetry::SequenceList ListSequences(size_t) const override { return {open.size(), {}}; }
  Status CheckReady() override { return Status::Ok(); }
  telemetry::ModelStatistics Statistics() const override { return {}; }
  base::Result<model::InstanceUpdate> PrepareUpdate(const config::ModelConfig&) override {
    return Status::Unsupported("");
  }
  void ApplyUpdate(model::InstanceUpdate) override {}

  std::set<uint64_t> open;

 private:
  request::ModelIdentity identity_;
};

class VersionChoiceTest : public ::testing::Test {
 protected:
  FakeVersion& Add(int64_t version, const char* config = kPlain) {
    auto fake = std::make_shared<FakeVersion>(config, version);
    FakeVersion& added = *fake;
    models_[{"m"}][version].Serve(
        std::make_shared<ServedModel>(std::move(fake), ServedModel::Belongings{}, 0, timers_,
                                      clock_),
        1);
    Publish();
    return added;
  }
  void Retire(int64_t version) {
    models_[{"m"}][version].Retire();
    Publish();
  }
  void Publish() {
    table_ = std::make_shared<const repository::ModelTable>(
        false, repository::ModelTable::Models(models_));
  }

  RolloutPlan Split(std::vector<rollout::Weight> weights) {
    RolloutPlan plan;
    plan.labels = {{"stable", 1}, {"canary", 2}};
    plan.split = rollout::Split{rollout::SplitKey::kRequest, "", std::move(weights)};
    plan.rollback.emplace().target.text = "canary";
    plan.rollback->min_requests = 1;
    plan.rollback->max_error_parts = 0;
    return plan;
  }
  void Begin(const RolloutPlan& plan) {
    const Status status = rollouts_.Set("m", plan);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void RollBack() { rollouts_.Find("m")->OnEnd(2, Outcome::kFailure, 1, clock_.NowNs()); }

  /// Returns the version that is chosen, or -1 and the error in error_.
  int64_t Choose(const RequestFields& request = {}) {
    auto chosen = ChooseVersion(*table_, *rollouts_.Find("m"), request);
    error_ = chosen.status();
    return chosen.ok() ? ServedModel::From(*chosen)->identity().version : -1;
  }
  static RequestFields Of(uint64_t sequence, uint32_t flags = 0, const char* label = "") {
    RequestFields request;
    request.correlation_id = sequence;
    request.flags = flags;
    request.model_label = label;
    return request;
  }
  static RequestFields Labeled(const char* label) { return Of(0, 0, label); }
  static RequestFields Numbered(int64_t version) {
    RequestFields request;
    request.model_version = version;
    return request;
  }

  base::FakeClock clock_;
  base::ManualTimerQueue timers_{clock_};
  std::map<repository::ModelId, repository::VersionRecords> models_;
  std::shared_ptr<const repository::ModelTable> table_ =
      std::make_shared<const repository::ModelTable>();
  ModelRollouts rollouts_{[this] { return table_; }, clock_};
  Status error_;
};

TEST_F(VersionChoiceTest, NumbersLabelsAndTheSplit) {
  for (int64_t version : {1, 2, 3}) Add(version);
  Begin(Split({{{"1"}, 10'000}, {{"2"}, 0}}));
  EXPECT_EQ(Choose(), 1);
  EXPECT_EQ(Choose(Numbered(3)), 3);
  EXPECT_EQ(Choose(Labeled("canary")), 2);
  EXPECT_EQ(Choose(Numbered(9)), -1);
  EXPECT_EQ(error_.message(), "Request for unknown model: 'm' version 9 is not found");
}

TEST_F(VersionChoiceTest, VersionsThatAreNotReady) {
  for (int64_t version : {1, 2, 3}) Add(version);
  Begin(Split({{{"1"}, 5'000}, {{"2"}, 5'000}}));
  Retire(2);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Choose(), 1);
  Retire(1);
  EXPECT_EQ(Choose(), 3);
  EXPECT_EQ(Choose(Labeled("stable")), -1);
  EXPECT_EQ(error_.code(), StatusCode::kUnavailable);
  Retire(3);
  EXPECT_EQ(Choose(), -1);
  EXPECT_EQ(error_.code(), StatusCode::kNotFound);
}

TEST_F(VersionChoiceTest, ARolledBackVersionGetsNothing) {
  for (int64_t version : {1, 2}) Add(version);
  Begin(Split({{{"1"}, 1}, {{"2"}, 9'999}}));
  RollBack();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Choose(), 1);
  EXPECT_EQ(Choose(Labeled("canary")), 1);
  EXPECT_EQ(Choose(Numbered(2)), 2);
  EXPECT_EQ(rollouts_.FindLabel("m", "canary", api::LabelUse::kInference).value(), -1);
  EXPECT_EQ(rollouts_.FindLabel("m", "canary", api::LabelUse::kDescription).value(), 2);
  Retire(1);
  EXPECT_EQ(Choose(), -1);
  EXPECT_EQ(error_.message(),
            "no version of model 'm' can serve: version 2 was rolled back, and no other version "
            "is ready");
}

TEST_F(VersionChoiceTest, LabelsMayStayOnARolledBackVersion) {
  for (int64_t version : {1, 2}) Add(version);
  RolloutPlan plan = Split({{{"1"}, 5'000}, {{"2"}, 5'000}});
  plan.rollback->redirects_labels = false;
  Begin(plan);
  RollBack();
  EXPECT_EQ(Choose(), 1);
  EXPECT_EQ(Choose(Labeled("canary")), 2);
}

TEST_F(VersionChoiceTest, SequencesStayWhereTheyAre) {
  Add(1, kSequences).open = {7};
  Add(2, kSequences).open = {8};
  Begin(Split({{{"1"}, 10'000}, {{"2"}, 0}}));
  EXPECT_EQ(Choose(Of(8)), 2);
  EXPECT_EQ(Choose(Of(8, request::kFlagSequenceStart)), 2);  // joins the open sequence
  EXPECT_EQ(Choose(Of(9, request::kFlagSequenceStart)), 1);
  EXPECT_EQ(Choose(Of(9)), 1);  // the scheduler refuses it there
  EXPECT_EQ(Choose(Of(7, 0, "canary")), 1);
  EXPECT_EQ(Choose(Of(7, request::kFlagSequenceStart, "canary")), 2);
}

TEST_F(VersionChoiceTest, SequencesOfARolledBackVersion) {
  FakeVersion& one = Add(1, kSequences);
  Add(2, kSequences).open = {8};
  RolloutPlan plan = Split({{{"1"}, 5'000}, {{"2"}, 5'000}});
  Begin(plan);
  RollBack();
  EXPECT_EQ(Choose(Of(8)), -1);
  EXPECT_EQ(error_.code(), StatusCode::kUnavailable);
  EXPECT_EQ(error_.message(),
            "[request id: <id_unknown>] sequence 8 has ended, because version 2 of model 'm' was "
            "rolled back; begin it again with the START flag");
  EXPECT_EQ(Choose(Of(8, request::kFlagSequenceStart)), 1);
  one.open = {8};  // begun again
  EXPECT_EQ(Choose(Of(8)), 1);
  one.open = {};
  plan.rollback->ends_sequences = false;
  Begin(plan);
  RollBack();
  EXPECT_EQ(Choose(Of(8)), 2);
  EXPECT_EQ(Choose(Of(8, request::kFlagSequenceStart)), 1);
}

TEST_F(VersionChoiceTest, DecoupledVersionsDoNotShareASplitWithOthers) {
  Add(1);
  Add(2, kDecoupled);
  Begin(Split({{{"1"}, 100}, {{"2"}, 9'900}}));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Choose(), 1);
  EXPECT_FALSE(TypicalVersion(*table_, *rollouts_.Find("m")).value()->config().decoupled());
  Retire(1);
  EXPECT_EQ(Choose(), 2);
  EXPECT_TRUE(TypicalVersion(*table_, *rollouts_.Find("m")).value()->config().decoupled());
}

TEST_F(VersionChoiceTest, RolloutsBeginAndEnd) {
  EXPECT_FALSE(rollouts_.any());
  EXPECT_EQ(rollouts_.Set("m", Split({{{"1"}, 10'000}})).code(), StatusCode::kNotFound);
  Add(1);
  EXPECT_EQ(rollouts_.Set("m", {}).message(),
            "the field 'rollout' is empty; expected labels, split, shadow or rollback");
  EXPECT_EQ(rollouts_.Remove("m").message(), "model 'm' has no rollout");
  Begin(Split({{{"1"}, 10'000}}));
  EXPECT_TRUE(rollouts_.any());
  EXPECT_TRUE(rollouts_.Has("m"));
  EXPECT_FALSE(rollouts_.Has("n"));
  EXPECT_TRUE(rollouts_.Get("m")->versions[0].ready);
  EXPECT_EQ(rollouts_.FindLabel("m", "blue", api::LabelUse::kInference).status().message(),
            "model 'm' has no version label 'blue'; its labels are: 'canary', 'stable'");
  EXPECT_TRUE(rollouts_.Remove("m").ok());
  EXPECT_FALSE(rollouts_.any());
  EXPECT_EQ(rollouts_.Get("m").status().code(), StatusCode::kNotFound);
}

TEST_F(VersionChoiceTest, AnEndedRolloutStillLeadsOpenSequences) {
  FakeVersion& one = Add(1, kSequences);
  Add(2, kSequences);
  Begin(Split({{{"1"}, 10'000}}));
  one.open = {7};
  ASSERT_TRUE(rollouts_.Remove("m").ok());
  EXPECT_TRUE(rollouts_.any());
  EXPECT_FALSE(rollouts_.Has("m"));
  EXPECT_TRUE(rollouts_.List().empty());
  EXPECT_EQ(Choose(Of(7)), 1);
  EXPECT_EQ(Choose(Of(8, request::kFlagSequenceStart)), 2);
  EXPECT_EQ(Choose(), 2);
  // It is forgotten when a rollout changes after the last of these sequences.
  one.open = {};
  Begin(Split({{{"1"}, 10'000}}));
  ASSERT_TRUE(rollouts_.Remove("m").ok());
  EXPECT_FALSE(rollouts_.any());
}

TEST_F(VersionChoiceTest, ANewPlanArmsTheRuleAgain) {
  for (int64_t version : {1, 2}) Add(version);
  const RolloutPlan plan = Split({{{"1"}, 0}, {{"2"}, 10'000}});
  Begin(plan);
  RollBack();
  EXPECT_EQ(Choose(), 1);
  EXPECT_EQ(rollouts_.Get("m")->rollbacks, 1u);
  Begin(plan);
  EXPECT_EQ(Choose(), 2);
  EXPECT_FALSE(rollouts_.Get("m")->rollback.has_value());
  EXPECT_EQ(rollouts_.Get("m")->rollbacks, 1u);
}

}  // namespace
}  // namespace nereid::server
