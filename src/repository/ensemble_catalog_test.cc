// SPDX-License-Identifier: Apache-2.0
#include "repository/ensemble_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/parse/parse.h"
#include "model_config.pb.h"
#include "repository/unload_plan.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// An ensemble that calls models of the same namespace as `id`.
void Add(EnsembleCatalog* catalog, const ModelId& id, const std::vector<std::string>& members) {
  KnownEnsemble ensemble;
  ensemble.job.directory.name = id.name;
  ensemble.job.is_wanted = true;
  for (const std::string& member : members) ensemble.members[member] = ModelId{member, id.space};
  catalog->Remember(id, std::move(ensemble));
}

/// A table in which these models are being loaded.
ModelTable Table(const std::vector<ModelId>& ids) {
  std::map<ModelId, VersionRecords> models;
  for (const ModelId& id : ids) models[id][1].BeginLoading(1);
  return ModelTable(true, ModelTable::Models(models));
}

TEST(EnsembleCatalogTest, CallersComeOutermostFirst) {
  EnsembleCatalog catalog(false);
  Add(&catalog, {"inner"}, {"m"});
  Add(&catalog, {"outer"}, {"inner"});
  Add(&catalog, {"other"}, {"n"});
  EXPECT_THAT(catalog.CallersOf({"m"}), ElementsAre(ModelId{"outer"}, ModelId{"inner"}));
  EXPECT_THAT(catalog.CallersOf({"outer"}), IsEmpty());
  catalog.Forget({"inner"});
  EXPECT_THAT(catalog.CallersOf({"m"}), IsEmpty());
}

TEST(EnsembleCatalogTest, ACircleOfCallersEnds) {
  EnsembleCatalog catalog(false);
  Add(&catalog, {"a"}, {"b"});
  Add(&catalog, {"b"}, {"a"});
  EXPECT_THAT(catalog.CallersOf({"a"}), ElementsAre(ModelId{"b"}));
}

TEST(EnsembleCatalogTest, AMemberOfAnotherNamespaceIsNotCalled) {
  EnsembleCatalog catalog(true);
  Add(&catalog, {"e", "/r1"}, {"m"});
  EXPECT_TRUE(catalog.IsCalled({"m", "/r1"}, {}));
  EXPECT_FALSE(catalog.IsCalled({"m", "/r2"}, {}));
  EXPECT_FALSE(catalog.IsCalled({"m", "/r1"}, {{"e", "/r1"}})) << "its caller leaves";
}

TEST(EnsembleCatalogTest, WithoutNamespacingANameIsTheModel) {
  const EnsembleCatalog catalog(false);
  EXPECT_EQ(catalog.Resolve({"e"}, "m", ModelTable()), ModelId{"m"});
}

TEST(EnsembleCatalogTest, ANameMeansTheOwnNamespaceOrTheOnlyOtherOne) {
  const EnsembleCatalog catalog(true);
  const ModelTable both = Table({{"m", "/r1"}, {"m", "/r2"}, {"u", "/r2"}});
  EXPECT_EQ(catalog.Resolve({"e", "/r1"}, "m", both), (ModelId{"m", "/r1"}));
  EXPECT_EQ(catalog.Resolve({"e", "/r1"}, "u", both), (ModelId{"u", "/r2"}));
  EXPECT_EQ(catalog.Resolve({"e", "/r3"}, "m", both), std::nullopt) << "there are two";
  EXPECT_EQ(catalog.Resolve({"e", "/r1"}, "x", both), std::nullopt) << "there is none";
}

TEST(EnsembleCatalogTest, AnEnsembleThatCouldNotBeLoadedIsMeantToo) {
  EnsembleCatalog catalog(true);
  Add(&catalog, {"failed", "/r2"}, {});
  EXPECT_EQ(catalog.Resolve({"e", "/r1"}, "failed", Table({})), (ModelId{"failed", "/r2"}));
}

TEST(EnsembleCatalogTest, MembersAreResolvedByTheNamesOfTheSteps) {
  EnsembleCatalog catalog(true);
  const auto config = config::ParseModelConfigText(
      "platform: \"ensemble\" ensemble_scheduling { step { model_name: \"m\" } "
      "step { model_name: \"x\" } step { model_name: \"m\" } }",
      "test");
  EXPECT_THAT(catalog.ResolveMembers({"e", "/r1"}, **config, Table({{"m", "/r2"}})),
              ElementsAre(Pair("m", ModelId{"m", "/r2"}), Pair("x", std::nullopt)));
}

TEST(EnsembleCatalogTest, RedirectedIsAnEnsembleWhoseNamesMeanOtherModels) {
  EnsembleCatalog catalog(true);
  Add(&catalog, {"e", "/r1"}, {"m"});
  EXPECT_THAT(catalog.Redirected(Table({{"m", "/r1"}})), IsEmpty());
  EXPECT_THAT(catalog.Redirected(Table({{"m", "/r1"}, {"m", "/r2"}})), IsEmpty());
  EXPECT_THAT(catalog.Redirected(Table({{"m", "/r2"}})), ElementsAre(ModelId{"e", "/r1"}));
  EXPECT_THAT(catalog.Redirected(Table({})), ElementsAre(ModelId{"e", "/r1"})) << "none is meant";

  EnsembleCatalog plain(false);
  Add(&plain, {"e"}, {"m"});
  EXPECT_THAT(plain.Redirected(ModelTable()), IsEmpty());
}

TEST(EnsembleCatalogTest, ALoadTouchesItsModelItsCallersAndItsMembers) {
  EnsembleCatalog catalog(false);
  Add(&catalog, {"e"}, {"m"});
  LoadJobs jobs;
  jobs[{"m"}].members = {"part"};
  EXPECT_THAT(catalog.TouchedBy(jobs),
              UnorderedElementsAre(ModelId{"m"}, ModelId{"e"}, ModelId{"part"}));
}

TEST(EnsembleCatalogTest, ARepeatedLoadIsForcedAndMakesNothingWanted) {
  EnsembleCatalog catalog(false);
  Add(&catalog, {"e"}, {"m"});
  const LoadJobs jobs = catalog.RepeatLoads({{"e"}, {"unknown"}});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs.at({"e"}).directory.name, "e");
  EXPECT_TRUE(jobs.at({"e"}).again);
  EXPECT_FALSE(jobs.at({"e"}).is_wanted);
}

class PlanUnloadTest : public ::testing::Test {
 protected:
  PlanUnloadTest() {
    Add(&catalog_, {"inner"}, {"m", "shared"});
    Add(&catalog_, {"outer"}, {"inner", "n"});
    Add(&catalog_, {"other"}, {"shared"});
  }
  static bool Any(const ModelId& /*id*/) { return true; }

  EnsembleCatalog catalog_{false};
};

TEST_F(PlanUnloadTest, CallersLeaveFirstAndComeBack) {
  const UnloadPlan plan = PlanUnload(catalog_, {{"m"}}, nullptr);
  EXPECT_THAT(plan.order, ElementsAre(ModelId{"outer"}, ModelId{"inner"}, ModelId{"m"}));
  EXPECT_THAT(plan.leaving, ElementsAre(ModelId{"m"}));
}

TEST_F(PlanUnloadTest, MembersStayUnlessTheyAreTakenAlong) {
  EXPECT_THAT(PlanUnload(catalog_, {{"outer"}}, nullptr).order, ElementsAre(ModelId{"outer"}));
}

TEST_F(PlanUnloadTest, MembersOfMembersGoButNotThoseThatOthersCall) {
  const UnloadPlan plan = PlanUnload(catalog_, {{"outer"}}, Any);
  EXPECT_THAT(plan.leaving,
              UnorderedElementsAre(ModelId{"outer"}, ModelId{"inner"}, ModelId{"n"}, ModelId{"m"}));
  EXPECT_EQ(plan.order.front(), ModelId{"outer"});
}

TEST_F(PlanUnloadTest, AMemberThatMayNotBeTakenStays) {
  const UnloadPlan plan =
      PlanUnload(catalog_, {{"outer"}}, [](const ModelId& id) { return id.name != "inner"; });
  EXPECT_THAT(plan.leaving, UnorderedElementsAre(ModelId{"outer"}, ModelId{"n"}));
}

TEST_F(PlanUnloadTest, AnUnknownModelIsAPlanOfItself) {
  EXPECT_THAT(PlanUnload(catalog_, {{"x"}}, Any).order, ElementsAre(ModelId{"x"}));
}

}  // namespace
}  // namespace nereid::repository
