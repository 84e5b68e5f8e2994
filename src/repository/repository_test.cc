// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(RepositoryTest, LoadsTheVersionsThatThePolicySelects) {
  Write("m", "backend: \"b\" version_policy { latest { num_versions: 2 } }",
        {"1", "2", "010", "10", "abc", "11_old", "12 (copy)", "13.bak"});
  ModelLifecycle lifecycle(options_, loader_);
  const auto report = lifecycle.LoadAll();
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(IndexText(lifecycle), "m/2/READY/\nm/10/READY/\n");
  EXPECT_TRUE(lifecycle.AllReady());
  EXPECT_EQ(lifecycle.Table()->Find("m", 1).status().message(),
            "Request for unknown model: 'm' version 1 is not found");
  EXPECT_TRUE(lifecycle.Table()->Find("m", -1).ok());
  EXPECT_EQ(lifecycle.Table()->Find("x", -1).status().message(),
            "Request for unknown model: 'x' is not found");
}

TEST_F(RepositoryTest, DirectoriesWithoutAModelCostNoReadiness) {
  Write("m", "backend: \"b\"", {"1"});
  for (const char* path : {".git/objects", ".ipynb_checkpoints", "old.bak", "copies.2024/m/1",
                           "numbers.v1/1", ".hidden.onnx/1"}) {
    std::filesystem::create_directories(root_ / path);
  }
  WriteFile(".git/config", "[core]");
  WriteFile("copies.2024/m/1/model.onnx", "a model of another folder");
  WriteFile("numbers.v1/1/data.csv", "1,2");
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_TRUE(lifecycle.LoadAll().failures.empty());
  EXPECT_TRUE(lifecycle.AllReady());
  EXPECT_EQ(IndexText(lifecycle), "copies.2024///\nm/1/READY/\nnumbers.v1///\nold.bak///\n");
  // Whoever asks for such a directory by name gets the reason.
  EXPECT_THAT(lifecycle.Load("old.bak").message(), HasSubstr("at least one version"));
  EXPECT_THAT(lifecycle.Load(".git").message(), HasSubstr("failed to poll"));
}

TEST_F(RepositoryTest, AModelOfABackendInItsNameIsNoDirectoryWithoutAModel) {
  options_.poll.backend_directory = (root_ / "backends").string();
  options_.poll.repositories = {(root_ / "models").string()};
  std::filesystem::create_directories(root_ / "backends" / "mine");
  WriteFile("backends/mine/libtriton_mine.so", "");
  for (const char* path : {"a.mine/1", "b.own/1", "c.v1/1", "d.v1", "e.mine", "f.python"}) {
    std::filesystem::create_directories(root_ / "models" / path);
  }
  WriteFile("models/b.own/1/libtriton_own.so", "");
  WriteFile("models/c.v1/1/resnet.onnx", "");
  WriteFile("models/d.v1/model.onnx", "");
  ModelLifecycle lifecycle(options_, loader_);
  const auto report = lifecycle.LoadAll();
  EXPECT_THAT(report.failures, ::testing::SizeIs(3));  // d.v1, e.mine, f.python have no version
  EXPECT_EQ(IndexText(lifecycle, true), "a.mine/1/READY/\nb.own/1/READY/\nc.v1/1/READY/\n");
}

TEST_F(RepositoryTest, AMappingMayNameAHiddenDirectory) {
  Write(".m", "backend: \"b\"", {"1"});
  options_.poll.repositories = {};
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.RegisterRepository(root_.string(), {{"m", ".m"}}).ok());
  EXPECT_TRUE(lifecycle.Load("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/\n");
}

TEST_F(RepositoryTest, ReportsEachModelThatFails) {
  Write("bad", "backend: \"b\" parameters { key: \"bad\" value { string_value: \"1\" } }", {"1"});
  Write("broken", "no such field: 1", {"1"});
  Write("empty", "backend: \"b\"", {});
  Write("good", "backend: \"b\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  auto report = lifecycle.LoadAll();
  ASSERT_EQ(report.failures.size(), 3u);
  EXPECT_EQ(
      report.failures["bad"].message(),
      "load failed for model 'bad': version 1 is at UNAVAILABLE state: Invalid argument: it is "
      "bad;\n");
  EXPECT_EQ(report.failures["broken"].code(), base::StatusCode::kInternal);
  EXPECT_THAT(report.failures["broken"].message(),
              ::testing::AllOf(::testing::StartsWith("failed to load 'broken', failed to poll from "
                                                     "model repository: "),
                               ::testing::HasSubstr("\"no\"")));
  EXPECT_EQ(
      report.failures["empty"].message(),
      "load failed for model 'empty': at least one version must be available under the version "
      "policy of model 'empty'; found no directory of a version: create the directory "
      "'empty/1'\n");
  EXPECT_THAT(IndexText(lifecycle),
              testing::MatchesRegex(
                  "bad/1/UNAVAILABLE/Invalid argument: it is bad\n"
                  "broken//UNAVAILABLE/failed to read text proto from .*/broken/config.pbtxt: "
                  "line 1, column 1: Message type .* has no field named .no..\n"
                  "empty//UNAVAILABLE/at least one version must be available under the version "
                  "policy of model 'empty'; found no directory of a version: create the directory "
                  "'empty/1'\n"
                  "good/1/READY/\n"));
  EXPECT_EQ(IndexText(lifecycle, true), "good/1/READY/\n");
  EXPECT_FALSE(lifecycle.AllReady());
}

TEST_F(RepositoryTest, AReloadReplacesAndAFailedReloadKeeps) {
  Write("m", "backend: \"b\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("m").ok());
  const auto first = *lifecycle.Table()->Find("m", -1);
  ASSERT_TRUE(lifecycle.Load("m").ok());
  EXPECT_EQ(loader_.loads, 1) << "nothing changed, so nothing is loaded again";

  Write("m", "backend: \"b\" parameters { key: \"bad\" value { string_value: \"1\" } }", {"1"});
  EXPECT_THAT(lifecycle.Load("m").message(), HasSubstr("it is bad"));
  EXPECT_EQ(*lifecycle.Table()->Find("m", -1), first);
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/the last load has failed\n");

  Write("m", "backend: \"b\"", {"1", "2"});
  ASSERT_TRUE(lifecycle.Load("m").ok());
  EXPECT_NE(*lifecycle.Table()->Find("m", -1), first);
  EXPECT_EQ(IndexText(lifecycle), "m/1/UNLOADING/\nm/2/READY/\n");
}

TEST_F(RepositoryTest, UnloadLetsRequestsFinish) {
  Write("m", "backend: \"b\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("m").ok());
  auto in_flight = *lifecycle.Table()->Find("m", -1);
  ASSERT_TRUE(lifecycle.Unload("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/UNLOADING/\n");
  EXPECT_EQ(lifecycle.Table()->Find("m", -1).status().message(),
            "Request for unknown model: 'm' has no available versions");
  EXPECT_EQ(lifecycle.Table()->Find("m", 1).status().code(), base::StatusCode::kUnavailable);
  EXPECT_THAT(lifecycle.WaitUntilGone([] { return true; }), ElementsAre("m:1"));
  in_flight.reset();
  EXPECT_THAT(lifecycle.WaitUntilGone([] { return true; }), IsEmpty());
  EXPECT_EQ(IndexText(lifecycle), "m/1/UNAVAILABLE/unloaded\n");
  EXPECT_TRUE(lifecycle.AllReady());
}

TEST_F(RepositoryTest, AnUnknownNameThatIsUnloadedLeavesNothing) {
  Write("m", "backend: \"b\"", {"1"});
  ModelLifecycle lifecycle(options_, loader_);
  ASSERT_TRUE(lifecycle.Load("m").ok());
  const auto table = lifecycle.Table();
  EXPECT_TRUE(lifecycle.Unload("never heard of").ok());
  EXPECT_TRUE(lifecycle.Unload("nor of this", true).ok());
  EXPECT_EQ(lifecycle.Table(), table) << "there is nothing to be changed";
}

TEST_F(RepositoryTest, AModelWithoutAVersionIsListedWithTheReason) {
  Write("m", "backend: \"b\"", {});
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_THAT(lifecycle.Load("m").message(), HasSubstr("at least one version must be available"));
  EXPECT_THAT(IndexText(lifecycle),
              testing::StartsWith("m//UNAVAILABLE/at least one version must be available"));
  EXPECT_FALSE(lifecycle.AllReady());
  EXPECT_EQ(lifecycle.Table()->Find("m", -1).status().message(),
            "Request for unknown model: 'm' has no available versions");
  EXPECT_EQ(lifecycle.Table()->Find("m", 1).status().message(),
            "Request for unknown model: 'm' version 1 is not found");
  ASSERT_TRUE(lifecycle.Unload("m").ok());
  EXPECT_TRUE(lifecycle.AllReady());
  EXPECT_EQ(IndexText(lifecycle), "m///\n");

  EXPECT_FALSE(lifecycle.Load("m").ok());
  std::filesystem::create_directories(root_ / "m" / "1");
  ASSERT_TRUE(lifecycle.Load("m").ok());
  EXPECT_EQ(IndexText(lifecycle), "m/1/READY/\n");
  EXPECT_TRUE(lifecycle.AllReady());
}

TEST_F(RepositoryTest, NamesStayInsideTheRepository) {
  ModelLifecycle lifecycle(options_, loader_);
  EXPECT_EQ(lifecycle.Load("..").code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(lifecycle.Load("a/b").code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(lifecycle.Load(" ").code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(lifecycle.Load("absent").ToString(),
            "Not found: failed to load 'absent', failed to poll from model repository: model not "
            "found in any model repository.");
}

TEST_F(RepositoryTest, ANameInTwoRepositoriesIsNotLoaded) {
  Write("a/m", "backend: \"b\"", {"1"});
  Write("b/m", "backend: \"b\"", {"1"});
  options_.poll.repositories = {(root_ / "a").string(), (root_ / "b").string()};
  ModelLifecycle lifecycle(options_, loader_);
  auto report = lifecycle.LoadAll();
  EXPECT_THAT(report.failures["m"].message(), HasSubstr("not unique"));
  EXPECT_EQ(IndexText(lifecycle), "m//UNAVAILABLE/model appears in two or more repositories\n");
}

TEST_F(RepositoryTest, AMissingRepositoryIsAFailure) {
  options_.poll.repositories = {"/nonexistent"};
  ModelLifecycle lifecycle(options_, loader_);
  const auto report = lifecycle.LoadAll();
  EXPECT_EQ(report.unreadable.at("/nonexistent").message(), "failed to stat file /nonexistent");
  EXPECT_EQ(lifecycle.Index(false).status().message(), "failed to stat file /nonexistent");
}

}  // namespace
}  // namespace nereid::repository
