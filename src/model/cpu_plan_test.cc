// SPDX-License-Identifier: Apache-2.0
#include "model/cpu_plan.h"

#include <gtest/gtest.h>

#include "request/testing/make_model.h"

namespace nereid::model {
namespace {

config::ModelConfigPtr Config(const std::string& name, const std::string& more) {
  return request::MakeModel("name: \"" + name + "\" backend: \"onnxruntime\" " + more)->config;
}

std::string Instances(int count, const std::string& more = "") {
  return "instance_group { kind: KIND_CPU count: " + std::to_string(count) + " " + more + " } ";
}

std::string Parameter(const std::string& key, const std::string& value) {
  return "parameters { key: \"" + key + "\" value { string_value: \"" + value + "\" } } ";
}

TEST(CpuPlan, SharesFirstAmongModelsThenAmongInstances) {
  EXPECT_EQ(ThreadsPerInstance(16, 1, 1), 16);
  EXPECT_EQ(ThreadsPerInstance(16, 4, 1), 4);
  EXPECT_EQ(ThreadsPerInstance(16, 4, 2), 2);
  EXPECT_EQ(ThreadsPerInstance(16, 3, 1), 5);
  EXPECT_EQ(ThreadsPerInstance(16, 3, 2), 2);
  EXPECT_EQ(ThreadsPerInstance(2, 4, 2), 1) << "nobody gets none";
  EXPECT_EQ(ThreadsPerInstance(8, 0, 0), 8);
  EXPECT_EQ(ThreadsPerInstance(8, SIZE_MAX, SIZE_MAX), 1);
}

TEST(CpuPlan, ModelsThatAreExpectedCountFromTheBeginning) {
  CpuPlan plan(16, {});
  plan.Expect(4);
  const auto a = plan.Add(*Config("a", Instances(1)), 1, {}).value();
  EXPECT_EQ(a.threads(), 4);
  plan.Expect(0);
  const auto b = plan.Add(*Config("b", Instances(1)), 1, {}).value();
  EXPECT_EQ(b.threads(), 8) << "of two";
  EXPECT_EQ(a.threads(), 4) << "a share does not change while its model serves";
}

TEST(CpuPlan, VersionsOfAModelAreOneModelAndWhoGoesFreesItsShare) {
  CpuPlan plan(12, {});
  const auto old_version = plan.Add(*Config("a", Instances(1)), 1, {}).value();
  EXPECT_EQ(plan.Add(*Config("a", Instances(1)), 2, {}).value().threads(), 12);
  {
    const auto b = plan.Add(*Config("b", Instances(2)), 1, {}).value();
    EXPECT_EQ(b.threads(), 3);
    EXPECT_EQ(plan.Shares().size(), 2u);
  }
  EXPECT_EQ(plan.Add(*Config("c", Instances(1)), 1, {}).value().threads(), 6);
}

TEST(CpuPlan, OnlyActiveInstancesOnCpusTakePart) {
  const auto config = Config("m", Instances(2) + Instances(3, "passive: true") +
                                      "instance_group { kind: KIND_GPU count: 4 gpus: [ 0 ] } ");
  EXPECT_EQ(CountCpuInstances(*config), 2u);
  CpuPlan plan(8, {});
  const auto none = plan.Add(*Config("p", Instances(3, "passive: true")), 1, {}).value();
  EXPECT_EQ(none.threads(), 0);
  EXPECT_TRUE(plan.Shares().empty());
}

TEST(CpuPlan, BoundInstancesShareTheirOwnCpus) {
  CpuPlan plan(16, {});
  plan.Expect(8);
  const auto entry = plan.Add(*Config("m", Instances(2)), 1, {4, 5, 6, 7}).value();
  EXPECT_EQ(entry.threads(), 2);
  EXPECT_EQ(plan.Shares().at(0).set_by, "host policy");
}

TEST(CpuPlan, ParametersDecideOverThePlan) {
  CpuPlan plan(16, {{"", {{"intra_op_thread_count", "3"}}},
                    {"onnxruntime", {{"intra_op_thread_count", "5"}}}});
  const auto added = [&plan](const std::string& parameters) {
    const auto entry = plan.Add(*Config("m", Instances(1) + parameters), 1, {}).value();
    const CpuShare share = plan.Shares().at(0);
    return share.set_by + " " + std::to_string(share.threads);
  };
  EXPECT_EQ(added(""), "--backend-config intra_op_thread_count 5");
  EXPECT_EQ(added(Parameter("intra_op_thread_count", "7")), "intra_op_thread_count 7");
  EXPECT_EQ(added(Parameter("INTRA_OP_THREAD_COUNT", "6")),
            "--backend-config intra_op_thread_count 5");
  CpuPlan free(16, {});
  const auto entry =
      free.Add(*Config("m", Instances(4) + Parameter("cpu_threads_per_instance", "9")), 1, {});
  EXPECT_EQ(entry.value().threads(), 9);
  EXPECT_EQ(free.Shares().at(0).set_by, "cpu_threads_per_instance");
}

TEST(CpuPlan, ABadParameterIsNamed) {
  CpuPlan plan(16, {});
  for (const char* bad : {"0", "-1", "4097", "two", "", "2 "}) {
    const auto entry =
        plan.Add(*Config("m", Instances(1) + Parameter("cpu_threads_per_instance", bad)), 1, {});
    ASSERT_FALSE(entry.ok()) << bad;
    EXPECT_EQ(entry.status().message(), "model 'm': parameter 'cpu_threads_per_instance' is '" +
                                            std::string(bad) +
                                            "', but must be an integer from 1 to 4096");
  }
  EXPECT_TRUE(plan.Shares().empty());
}

CpuShare Share(int threads) {
  CpuShare share;
  share.threads = threads;
  return share;
}

TEST(CpuPlan, TheBackendReadsThePlanUnlessTheModelSaysOtherwise) {
  const auto config = Config("m", Instances(1));
  EXPECT_EQ(*WithCpuThreads(*config, Share(3))->FindParameter(kCpuThreadsParameter), "3");
  EXPECT_EQ(WithCpuThreads(*config, Share(0))->FindParameter(kCpuThreadsParameter), nullptr);
  EXPECT_EQ(config->FindParameter(kCpuThreadsParameter), nullptr);
  const auto own = Config("m", Parameter(kCpuThreadsParameter, "7"));
  EXPECT_EQ(*WithCpuThreads(*own, Share(3))->FindParameter(kCpuThreadsParameter), "7");
}

TEST(CpuPlan, OnlyTheServerSaysThatThreadsVaryOrAreShared) {
  CpuShare share = Share(3);
  const auto forged = Config(
      "m", Parameter(kCpuThreadsVaryParameter, "true") + Parameter("cpu_threads_shared", "1"));
  EXPECT_EQ(WithCpuThreads(*forged, share)->FindParameter(kCpuThreadsVaryParameter), nullptr);
  EXPECT_EQ(WithCpuThreads(*forged, share)->FindParameter(kCpuThreadsSharedParameter), nullptr);
  share.varies = share.shared = true;
  EXPECT_EQ(*WithCpuThreads(*forged, share)->FindParameter(kCpuThreadsVaryParameter), "true");
  EXPECT_EQ(*WithCpuThreads(*forged, share)->FindParameter(kCpuThreadsSharedParameter), "true");
}

TEST(CpuPlan, ABackendThatCanVaryItsThreadsMayUseAllCpus) {
  CpuPlan plan(16, {});
  plan.Expect(4);
  auto entry = plan.Add(*Config("m", Instances(2)), 1, {}, true).value();
  EXPECT_TRUE(entry.varies());
  EXPECT_EQ(entry.most_threads(), 16);
  EXPECT_EQ(entry.threads(), 2) << "if the number turns out to be fixed";
  entry.Fix();
  EXPECT_FALSE(entry.varies());
  const auto bound = plan.Add(*Config("b", Instances(2)), 1, {4, 5, 6, 7}, true).value();
  EXPECT_EQ(bound.most_threads(), 4);
}

TEST(CpuPlan, ASettingForTheThreadsWinsOverTheirChoice) {
  CpuPlan plan(16, {{"onnxruntime", {{"intra_op_thread_count", "5"}}}});
  EXPECT_FALSE(plan.Add(*Config("m", Instances(1)), 1, {}, true)->varies());
  CpuPlan free(16, {});
  for (const char* key : {"intra_op_thread_count", "cpu_threads_per_instance"}) {
    const auto entry = free.Add(*Config("m", Instances(1) + Parameter(key, "3")), 1, {}, true);
    EXPECT_FALSE(entry->varies()) << key;
    EXPECT_EQ(entry->threads(), 3) << key;
  }
}

TEST(CpuPlan, AFrameworkWithOnePoolGetsAllCpusForIt) {
  CpuPlan plan(16, {});
  plan.Expect(4);
  const auto model = request::MakeModel("name: \"t\" backend: \"tensorflow\" " + Instances(2));
  const auto entry = plan.Add(*model->config, 1, {}).value();
  EXPECT_EQ(entry.threads(), 16);
  EXPECT_TRUE(entry.share().shared);
}

TEST(CpuPlan, MoreInstancesThanListedWhereTheyCostLittle) {
  EXPECT_EQ(PlannedInstances(2, 1, 2), 2);
  EXPECT_EQ(PlannedInstances(16, 1, 2), 16);
  EXPECT_EQ(PlannedInstances(16, 50, 2), 2);
  EXPECT_EQ(PlannedInstances(64, 5, 2), 51);
  EXPECT_EQ(PlannedInstances(64, 5, 200), 200) << "never fewer";
  EXPECT_EQ(PlannedInstances(64, SIZE_MAX, 1), 2) << "two clients can use two CPUs";
  EXPECT_EQ(PlannedInstances(1, 1, 1), 1);
}

TEST(CpuPlan, InstancesAreAddedOnlyWhereTheBackendSaysThatTheyShareTheModel) {
  CpuPlan plan(16, {});
  auto entry = plan.Add(*Config("m", Instances(1)), 1, {}, true).value();
  const auto config = Config("m", Instances(1));
  const auto count = [&] {
    return entry.WithInstances(config, *Config("m", ""))->instance_groups().front().count;
  };
  EXPECT_EQ(count(), 1);
  entry.LetInstancesBeAdded();
  EXPECT_EQ(count(), 16);
  entry.Fix();
  EXPECT_EQ(count(), 1);
}

TEST(CpuPlan, OnlyANumberThatNobodyHasWrittenIsRaised) {
  CpuPlan plan(16, {});
  const auto count = [&plan](const std::string& written, const std::string& completed) {
    auto entry = plan.Add(*Config("m", completed), 1, {}, true).value();
    entry.LetInstancesBeAdded();
    return entry.WithInstances(Config("m", completed), *Config("m", written))
        ->instance_groups()
        .front()
        .count;
  };
  EXPECT_EQ(count("", Instances(2)), 16);
  EXPECT_EQ(count("instance_group { kind: KIND_CPU }", Instances(2)), 16);
  EXPECT_EQ(count(Instances(2), Instances(2)), 2);
  EXPECT_EQ(count("sequence_batching { } ", Instances(2) + "sequence_batching { } "), 2);
  EXPECT_EQ(count("", "instance_group { kind: KIND_GPU count: 1 gpus: [ 0 ] } " + Instances(2)), 1);
}

}  // namespace
}  // namespace nereid::model
