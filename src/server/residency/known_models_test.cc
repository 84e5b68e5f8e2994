// SPDX-License-Identifier: Apache-2.0
#include "server/residency/known_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "request/testing/make_model.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;

TEST(ModelGateTest, AClosedGateLetsNobodyInAndCountsNobody) {
  const auto gate = std::make_shared<ModelGate>();
  EXPECT_FALSE(ModelGate::Enter(gate, 5).has_value());
  EXPECT_FALSE(gate->IsEntered());
  EXPECT_EQ(gate->hits(), 0u);
  EXPECT_EQ(gate->last_used_ns(), 0u);
}

TEST(ModelGateTest, APassIsCountedUntilItEnds) {
  const auto gate = std::make_shared<ModelGate>();
  gate->Open();
  {
    const auto pass = ModelGate::Enter(gate, 5);
    ASSERT_TRUE(pass.has_value());
    gate->Close();
    EXPECT_TRUE(gate->IsEntered());
  }
  EXPECT_FALSE(gate->IsEntered());
  EXPECT_EQ(gate->hits(), 1u);
  EXPECT_EQ(gate->last_used_ns(), 5u);
}

TEST(ModelGateTest, AFirstRequestWithoutATimeIsAUse) {
  const auto gate = std::make_shared<ModelGate>();
  EXPECT_FALSE(gate->ReadUse().Exists());
  {
    const ModelGate::Pass pass(gate);  // as Enter has it before it stores the time
    const ModelGate::Use use = gate->ReadUse();
    EXPECT_TRUE(use.Exists());
    EXPECT_TRUE(use.is_entered);
    EXPECT_EQ(use.last_ns, 0u);
  }
  EXPECT_FALSE(gate->ReadUse().Exists());
}

TEST(ModelGateTest, APassCanBeMoved) {
  const auto gate = std::make_shared<ModelGate>();
  ModelGate::Pass kept;
  {
    ModelGate::Pass pass = ModelGate::Hold(gate, 7);
    kept = std::move(pass);
  }
  EXPECT_TRUE(gate->IsEntered());
  kept = ModelGate::Pass();
  EXPECT_FALSE(gate->IsEntered());
  EXPECT_EQ(gate->hits(), 0u) << "a held pass is no hit";
}

TEST(KnownModelsTest, AModelKeepsItsGateAndItsHits) {
  KnownModels models;
  EXPECT_EQ(models.Find("m"), nullptr);
  models.Set("m", {});
  const auto gate = models.FindGate("m");
  gate->Open();
  (void)ModelGate::Enter(gate, 1);
  models.Set("m", {.facts = {}, .is_wanted = false});
  EXPECT_EQ(models.FindGate("m"), gate);
  EXPECT_FALSE(models.Find("m")->is_wanted);
  EXPECT_EQ(models.Hits(), 1u);
  models.Remove("m");
  EXPECT_EQ(models.FindGate("m"), nullptr);
  EXPECT_EQ(models.Hits(), 1u);
}

TEST(KnownModelsTest, AChangeOfAnUnknownModelDoesNothing) {
  KnownModels models;
  models.Change("m", [](KnownModel& model) { model.is_wanted = false; });
  EXPECT_EQ(models.Find("m"), nullptr);
}

TEST(KnownModelTest, VersionsAreThoseOfTheFilesUntilTheModelHasServed) {
  KnownModel model;
  EXPECT_TRUE(model.MayHave(4)) << "nothing is known of a remote model";
  EXPECT_EQ(model.ConfigOf(-1), nullptr);
  model.facts.versions = {1, 3};
  model.facts.written = request::MakeModel("name: \"written\"")->config;
  EXPECT_TRUE(model.MayHave(-1));
  EXPECT_TRUE(model.MayHave(3));
  EXPECT_FALSE(model.MayHave(4));
  EXPECT_EQ(model.ConfigOf(-1)->name(), "written");
  EXPECT_EQ(model.ConfigOf(4), nullptr);
  model.served[3] = request::MakeModel("name: \"third\"")->config;
  model.served[4] = request::MakeModel("name: \"fourth\"")->config;
  EXPECT_THAT(model.Versions(), ElementsAre(3, 4));
  EXPECT_EQ(model.ConfigOf(-1)->name(), "fourth");
  EXPECT_EQ(model.ConfigOf(3)->name(), "third");
  EXPECT_EQ(model.ConfigOf(1), nullptr);
}

}  // namespace
}  // namespace nereid::server
