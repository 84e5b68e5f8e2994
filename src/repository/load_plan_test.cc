// SPDX-License-Identifier: Apache-2.0
#include "repository/load_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parse/parse.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr auto kLoad = VersionAction::kLoad;
constexpr auto kUpdate = VersionAction::kUpdate;

LoadBasis Basis(const std::string& config, std::map<std::string, uint64_t> files = {{"1", 1}}) {
  LoadBasis basis;
  basis.config = config::ParseModelConfigText("backend: \"b\" " + config, "test").value();
  basis.files.entries = std::move(files);
  return basis;
}

constexpr const char* kOne = "instance_group { count: 1 }";
constexpr const char* kTwo = "instance_group { count: 2 } version_policy { all { } }";

TEST(PlanVersionsTest, InstanceGroupsAndPoliciesChangeWhileServing) {
  EXPECT_THAT(PlanVersions(Basis(kOne), Basis(kTwo), {1}, {1}), ElementsAre(Pair(1, kUpdate)));
}

TEST(PlanVersionsTest, AnyOtherFieldReloads) {
  EXPECT_THAT(PlanVersions(Basis(kOne), Basis("max_batch_size: 2"), {1}, {1}),
              ElementsAre(Pair(1, kLoad)));
}

TEST(PlanVersionsTest, WhatDoesNotServeIsLoaded) {
  EXPECT_THAT(PlanVersions({}, Basis(kOne), {}, {1}), ElementsAre(Pair(1, kLoad)));
  EXPECT_THAT(PlanVersions(Basis(kOne), Basis(kTwo), {}, {1}), ElementsAre(Pair(1, kLoad)));
}

TEST(PlanVersionsTest, ChangedFilesReloadTheirVersion) {
  EXPECT_THAT(PlanVersions(Basis(kOne, {{"1", 1}, {"2", 1}}), Basis(kOne, {{"1", 1}, {"2", 2}}),
                           {1, 2}, {1, 2}),
              ElementsAre(Pair(1, kUpdate), Pair(2, kLoad)));
}

TEST(PlanVersionsTest, FilesOfItsOwnAreAlwaysLoaded) {
  LoadBasis staged = Basis(kTwo);
  staged.staged = true;
  EXPECT_THAT(PlanVersions(Basis(kOne), staged, {1}, {1}), ElementsAre(Pair(1, kLoad)));
  EXPECT_THAT(PlanVersions(staged, Basis(kOne), {1}, {1}), ElementsAre(Pair(1, kLoad)));
}

}  // namespace
}  // namespace nereid::repository
