// SPDX-License-Identifier: Apache-2.0
#include "model/instance_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/complete/instance_groups.h"
#include "request/testing/make_model.h"

namespace nereid::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<InstanceSpec> Expand(const std::string& groups, const HostPolicies& policies = {}) {
  const auto config = request::MakeModel("name: \"m\" backend: \"b\" " + groups)->config;
  return ExpandInstanceGroups(*config::CompleteInstanceGroups(*config, {}), policies).value();
}

std::vector<ExistingInstance> Existing(const std::vector<InstanceSpec>& specs) {
  std::vector<ExistingInstance> existing;
  for (const InstanceSpec& spec : specs) {
    existing.push_back({spec.description.name, spec.signature});
  }
  return existing;
}

std::vector<std::string> Names(const std::vector<InstanceSpec>& specs) {
  std::vector<std::string> names;
  for (const InstanceSpec& spec : specs) names.push_back(spec.description.name);
  return names;
}

TEST(ExpandInstanceGroupsTest, ThereIsAMostForAllGroupsTogether) {
  const auto status_of = [](const std::string& groups) {
    const auto config = request::MakeModel("name: \"m\" backend: \"b\" " + groups)->config;
    return ExpandInstanceGroups(*config::CompleteInstanceGroups(*config, {}), {}).status();
  };
  EXPECT_TRUE(status_of("instance_group { kind: KIND_CPU count: 16384 }").ok());
  EXPECT_EQ(status_of("instance_group { kind: KIND_CPU count: 2000000000 }").message(),
            "instance group 'm_0' of model 'm' has count 2000000000: a model may have 16384 "
            "instances at most, in all its groups together");
  EXPECT_FALSE(status_of("instance_group { kind: KIND_CPU count: 16384 } "
                         "instance_group { kind: KIND_CPU count: 1 }")
                   .ok());
  EXPECT_FALSE(status_of("instance_group { kind: KIND_GPU count: 8193 gpus: [ 0, 1 ] }").ok());
}

TEST(ExpandInstanceGroupsTest, NamesFollowGroupAndPosition) {
  EXPECT_THAT(Names(Expand("")), ElementsAre("m_0"));
  EXPECT_THAT(Names(Expand(R"(instance_group { name: "gg" kind: KIND_CPU count: 2 }
                              instance_group { kind: KIND_MODEL })")),
              ElementsAre("gg_0", "gg_1", "m_1_0"));
}

TEST(ExpandInstanceGroupsTest, WhatTheGroupSaysReachesTheBackend) {
  const auto specs = Expand(R"(
      instance_group { kind: KIND_MODEL passive: true host_policy: "near" profile: "1"
                       secondary_devices { kind: KIND_NVDLA device_id: 3 } }
      instance_group { kind: KIND_CPU })",
                            {{"near", {{"numa-node", "1"}, {"cpu-cores", "0-3"}}}});
  ASSERT_EQ(specs.size(), 2u);
  const auto& first = specs[0].description;
  EXPECT_EQ(first.kind, config::InstanceKind::kModel);
  EXPECT_TRUE(first.passive);
  EXPECT_EQ(first.host_policy_json, R"({"near":{"cpu-cores":"0-3","numa-node":"1"}})");
  EXPECT_THAT(first.profiles, ElementsAre("1"));
  ASSERT_EQ(first.secondary_devices.size(), 1u);
  EXPECT_EQ(first.secondary_devices[0].device_id, 3);
  EXPECT_EQ(specs[1].description.host_policy_json, R"({"cpu":{}})");
}

TEST(PlanInstanceChangesTest, MoreOfTheSameCreatesOnlyWhatIsMissing) {
  const auto changes = PlanInstanceChanges(Existing(Expand("instance_group { count: 1 }")),
                                           Expand("instance_group { count: 3 }"));
  EXPECT_THAT(changes.keep, ElementsAre(0));
  EXPECT_THAT(changes.remove, IsEmpty());
  EXPECT_THAT(changes.create, ElementsAre(1, 2));
}

TEST(PlanInstanceChangesTest, FewerRemovesTheLast) {
  const auto changes = PlanInstanceChanges(Existing(Expand("instance_group { count: 3 }")),
                                           Expand("instance_group { count: 1 }"));
  EXPECT_THAT(changes.keep, ElementsAre(0));
  EXPECT_THAT(changes.remove, ElementsAre(1, 2));
  EXPECT_THAT(changes.create, IsEmpty());
}

TEST(PlanInstanceChangesTest, AnotherNameIsTheSameInstance) {
  const auto changes =
      PlanInstanceChanges(Existing(Expand("instance_group { name: \"a\" count: 2 }")),
                          Expand("instance_group { name: \"b\" } instance_group { name: \"c\" }"));
  EXPECT_THAT(changes.keep, ElementsAre(0, 1));
  EXPECT_THAT(changes.remove, IsEmpty());
  EXPECT_THAT(changes.create, IsEmpty());
}

TEST(PlanInstanceChangesTest, AnyOtherFieldIsAnotherInstance) {
  for (const std::string changed :
       {"passive: true", "host_policy: \"x\"", "kind: KIND_MODEL", "rate_limiter { priority: 2 }",
        "secondary_devices { device_id: 1 }"}) {
    const auto changes = PlanInstanceChanges(Existing(Expand("instance_group { }")),
                                             Expand("instance_group { " + changed + " }"));
    EXPECT_THAT(changes.remove, ElementsAre(0)) << changed;
    EXPECT_THAT(changes.create, ElementsAre(0)) << changed;
  }
}

}  // namespace
}  // namespace nereid::model
