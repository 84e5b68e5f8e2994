// SPDX-License-Identifier: Apache-2.0
#include "repository/archived_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kEnsemble[] =
    "platform: \"ensemble\" ensemble_scheduling { step { model_name: \"a\" } }";
constexpr char kOuter[] =
    "platform: \"ensemble\" ensemble_scheduling { step { model_name: \"e\" } }";

class ArchivedModelTest : public RepositoryTest {
 protected:
  void SetUp() override {
    RepositoryTest::SetUp();
    root_ = std::filesystem::canonical(root_);
  }
  base::Result<ArchivedModel> Find(const std::string& path = "x") {
    return FindArchivedModel((root_ / path).string(), "hash", options_.poll);
  }
};

TEST_F(ArchivedModelTest, IsTheDirectoryOrItsOnlyModel) {
  Write("x/resnet", "backend: \"b\"", {"1"});
  std::filesystem::create_directories(root_ / "x" / "assets");
  auto found = Find();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->repository, root_ / "x");
  EXPECT_THAT(found->names, ElementsAre(Pair("hash", "resnet")));

  found = Find("x/resnet/");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->repository, root_ / "x");
  EXPECT_THAT(found->names, ElementsAre(Pair("hash", "resnet")));

  // A backend completes the configuration: versions are enough.
  std::filesystem::create_directories(root_ / "y" / "plain" / "3");
  EXPECT_THAT(Find("y")->names, ElementsAre(Pair("hash", "plain")));
}

TEST_F(ArchivedModelTest, IsTheEnsembleThatCallsTheOthers) {
  Write("x/a", "backend: \"b\"", {"1"});
  Write("x/e", kEnsemble, {"1"});
  EXPECT_THAT(Find()->names, ElementsAre(Pair("hash", "e")));
  Write("x/outer", kOuter, {"1"});
  EXPECT_THAT(Find()->names, ElementsAre(Pair("hash", "outer")));
}

TEST_F(ArchivedModelTest, AnythingElseIsRefused) {
  EXPECT_THAT(Find("absent").status().message(), HasSubstr("there is no directory '"));
  WriteFile("file", "");
  EXPECT_THAT(Find("file").status().message(), HasSubstr("there is no directory '"));
  std::filesystem::create_directories(root_ / "x");
  EXPECT_THAT(Find().status().message(), HasSubstr("it contains none of these"));
  Write("x/a", "backend: \"b\"", {"1"});
  Write("x/b", "backend: \"b\"", {"1"});
  EXPECT_THAT(Find().status().message(), HasSubstr("it contains the models 'a', 'b'"));
  Write("x/e", kEnsemble, {"1"});
  Write("x/f", kEnsemble, {"1"});
  EXPECT_THAT(Find().status().message(), HasSubstr("'a', 'b', 'e', 'f'"));
}

TEST_F(ArchivedModelTest, TheNewNameReplacesThatOfTheConfiguration) {
  Write("x/resnet", "name: \"resnet\" backend: \"b\"", {"1"});
  options_.poll.repositories.clear();
  ModelLifecycle lifecycle(options_, loader_);
  const auto found = Find();
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(lifecycle.RegisterRepository(found->repository, found->names).ok());
  const base::Status loaded = lifecycle.Load("hash");
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_TRUE(lifecycle.Table()->Find("hash", -1).ok());
  EXPECT_EQ(IndexText(lifecycle), "hash/1/READY/\n");
}

}  // namespace
}  // namespace nereid::repository
