// SPDX-License-Identifier: Apache-2.0
#include "repository/load_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LoadGateTest, KnowsWhatPassesUntilItHas) {
  LoadGate gate;
  {
    const LoadGate::Pass a = gate.Enter("a");
    LoadGate::Pass b = gate.Enter("b");
    const LoadGate::Pass moved = std::move(b);
    EXPECT_TRUE(a && moved);
    EXPECT_THAT(gate.Loading(), ElementsAre("a", "b"));
    gate.Close();
    EXPECT_FALSE(gate.Enter("c"));
    EXPECT_THAT(gate.Loading(), ElementsAre("a", "b"));
  }
  EXPECT_THAT(gate.Loading(), IsEmpty());
  EXPECT_TRUE(gate.IsClosed());
}

TEST_F(RepositoryTest, NothingIsLoadedBehindAClosedGate) {
  Write("a", "backend: \"b\"", {"1"});
  Write("b", "backend: \"b\"", {"1"});
  options_.gate = std::make_shared<LoadGate>();
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("a").ok());
  options_.gate->Close();
  EXPECT_THAT(lifecycle.Load("b").message(), HasSubstr("the server is stopping: 'b'"));
  EXPECT_FALSE(lifecycle.LoadModels({"b"}).failures.empty());
  (void)lifecycle.LoadAll();
  EXPECT_EQ(loader_.loads, 1);
  EXPECT_TRUE(lifecycle.Table()->Find("a", -1).ok());
}

TEST_F(RepositoryTest, WhatRequestsAreBoundToIsKnown) {
  Write("m", "backend: \"b\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("m").ok());
  EXPECT_THAT(lifecycle.BoundVersions(), IsEmpty());
  auto first = *lifecycle.Table()->Find("m", -1);
  auto second = first;
  auto bound = lifecycle.BoundVersions();
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_EQ(bound[0].id.name, "m");
  EXPECT_EQ(bound[0].version, 1);
  EXPECT_EQ(bound[0].requests, 1u);
  EXPECT_FALSE(bound[0].leaving);
  second.reset();
  ASSERT_TRUE(lifecycle.Unload("m").ok());
  bound = lifecycle.BoundVersions();
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_TRUE(bound[0].leaving);
  EXPECT_EQ(lifecycle.LivingVersions(), 1u);
  first.reset();
  EXPECT_THAT(lifecycle.BoundVersions(), IsEmpty());
}

}  // namespace
}  // namespace nereid::repository
