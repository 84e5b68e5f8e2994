// SPDX-License-Identifier: Apache-2.0
#include "api/access/operation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace nereid::api {
namespace {

// Who may do what. A change here is a change of what a role means: docs/user/security.md says the
// same.
TEST(Operation, RolesAndCategories) {
  struct Expected {
    std::string_view name, category, roles;
    bool is_probe = false, is_public = false;
  };
  constexpr Expected kExpected[] = {
      {"server-live", "health", "infer,observe,manage", true},
      {"server-ready", "health", "infer,observe,manage", true},
      {"model-ready", "health", "infer,observe,manage"},
      {"liveness-reasons", "health", "observe,manage"},
      {"health-reasons", "health", "observe,manage"},
      {"server-metadata", "metadata", "infer,observe,manage"},
      {"model-metadata", "metadata", "infer,observe,manage"},
      {"infer", "inference", "infer,manage"},
      {"model-config", "model-config", "observe,manage"},
      {"statistics", "statistics", "observe,manage"},
      {"sequences", "statistics", "observe,manage"},
      {"repository-index", "model-repository", "observe,manage"},
      {"model-load", "model-repository", "manage"},
      {"model-unload", "model-repository", "manage"},
      {"load-read", "model-repository", "observe,manage"},
      {"load-cancel", "model-repository", "manage"},
      {"drain-read", "model-repository", "observe,manage"},
      {"drain-change", "model-repository", "manage"},
      {"sequence-handover", "model-repository", "manage"},
      {"rollout-read", "model-repository", "observe,manage"},
      {"rollout-change", "model-repository", "manage"},
      {"shared-memory-status", "shared-memory", "observe,manage"},
      {"shared-memory-register", "shared-memory", "manage"},
      {"shared-memory-unregister", "shared-memory", "manage"},
      {"trace-read", "trace", "observe,manage"},
      {"trace-change", "trace", "manage"},
      {"log-read", "logging", "observe,manage"},
      {"log-change", "logging", "manage"},
      {"reflection", "", "infer,observe,manage"},
      {"metrics", "", "observe,manage"},
      {"console-page", "", "infer,observe,manage", false, true},
  };
  ASSERT_EQ(std::size(kExpected), static_cast<size_t>(kLastOperation) + 1);
  for (size_t i = 0; i < std::size(kExpected); ++i) {
    const OperationFacts& facts = FactsOf(static_cast<Operation>(i));
    EXPECT_EQ(facts.name, kExpected[i].name);
    EXPECT_EQ(CategoryName(facts.category), kExpected[i].category) << facts.name;
    EXPECT_EQ(RoleWords(facts.roles), kExpected[i].roles) << facts.name;
    EXPECT_EQ(facts.is_probe, kExpected[i].is_probe) << facts.name;
    EXPECT_EQ(facts.is_public, kExpected[i].is_public) << facts.name;
  }
}

// What may call a plug-in, or load a model, may not run where other requests wait for it.
TEST(Operation, Costs) {
  std::map<Cost, std::set<Operation>> by_cost;
  for (size_t i = 0; i <= static_cast<size_t>(kLastOperation); ++i) {
    const OperationFacts& facts = FactsOf(static_cast<Operation>(i));
    by_cost[facts.cost].insert(facts.operation);
  }
  using enum Operation;
  EXPECT_EQ(by_cost[Cost::kRunsOnLoop],
            (std::set{kServerLive, kServerMetadata, kInfer, kReflection, kConsolePage}));
  EXPECT_EQ(by_cost[Cost::kAsksPlugins],
            (std::set{kServerReady, kModelReady, kHealthReasons, kTraceRead, kTraceChange}));
  EXPECT_EQ(by_cost[Cost::kMovesSequences], std::set{kSequenceHandover});
  EXPECT_EQ(by_cost[Cost::kLoads], (std::set{kModelLoad, kModelUnload}));
}

TEST(Operation, NamesDiffer) {
  std::set<std::string_view> names;
  for (size_t i = 0; i <= static_cast<size_t>(kLastOperation); ++i) {
    EXPECT_TRUE(names.insert(FactsOf(static_cast<Operation>(i)).name).second);
  }
}

TEST(Category, NamesAreTritons) {
  for (const char* name : {"health", "metadata", "inference", "shared-memory", "model-config",
                           "model-repository", "statistics", "trace", "logging"}) {
    const auto category = FindCategory(name);
    ASSERT_TRUE(category.has_value()) << name;
    EXPECT_EQ(CategoryName(*category), name);
  }
  for (const char* name : {"", "none", "Health", "health "})
    EXPECT_FALSE(FindCategory(name)) << name;
}

TEST(Role, Words) {
  std::string unknown;
  EXPECT_EQ(ParseRoles("infer", &unknown), RoleSet({Role::kInfer}));
  EXPECT_EQ(ParseRoles("manage,infer,manage", &unknown), RoleSet({Role::kInfer, Role::kManage}));
  for (const char* words : {"", "infer,", ",infer", "Infer", "infer observe", "infer,root"}) {
    EXPECT_EQ(ParseRoles(words, &unknown), std::nullopt) << words;
  }
  EXPECT_EQ(unknown, "root");
}

}  // namespace
}  // namespace nereid::api
