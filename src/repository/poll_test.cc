// SPDX-License-Identifier: Apache-2.0
// Mode "poll": what a look at the repositories does after they have changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/testing/failing_readdir.h"
#include "repository/repository_snapshot.h"
#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

RepositorySnapshot Snapshot(const std::map<std::string, uint64_t>& models,
                            const std::string& repository = "/r") {
  RepositorySnapshot snapshot;
  for (const auto& [name, hash] : models) {
    snapshot.models[ModelId{name}] = {repository + "/" + name, {{{"1", hash}}}};
  }
  return snapshot;
}

TEST(CompareTest, SaysWhatCameWentAndChanged) {
  const auto difference = Compare(Snapshot({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}),
                                  Snapshot({{"b", 2}, {"c", 1}, {"e", 1}, {"f", 1}}));
  EXPECT_THAT(difference.added, ElementsAre(ModelId{"e"}, ModelId{"f"}));
  EXPECT_THAT(difference.removed, ElementsAre(ModelId{"a"}, ModelId{"d"}));
  EXPECT_THAT(difference.changed, ElementsAre(ModelId{"b"}));
}

TEST(CompareTest, AMoveIsAChange) {
  EXPECT_THAT(Compare(Snapshot({{"a", 1}}), Snapshot({{"a", 1}}, "/other")).changed,
              ElementsAre(ModelId{"a"}));
}

TEST(PreferMapped, AMappedNameHidesTheOthersOfItsId) {
  const std::vector<ModelDirectory> found = {
      {"m", "/a/x", "/a", true}, {"m", "/a/m", "/a"}, {"m", "/b/m", "/b"}, {"n", "/b/n", "/b"}};
  const auto paths = [&](bool namespacing) {
    std::vector<ModelDirectory> kept = found;
    PreferMapped(namespacing, &kept);
    std::vector<std::string> list;
    for (const ModelDirectory& directory : kept) list.push_back(directory.path);
    return list;
  };
  EXPECT_THAT(paths(false), ElementsAre("/a/x", "/b/n"));
  EXPECT_THAT(paths(true), ElementsAre("/a/x", "/b/m", "/b/n"));
}

class PollTest : public RepositoryTest {
 protected:
  std::vector<std::string> Poll() {
    const auto report = lifecycle_->LoadAll();
    failures_ = report.failures;
    unreadable_ = report.unreadable;
    return loader_.TakeEvents();
  }
  void SetUp() override {
    RepositoryTest::SetUp();
    lifecycle_.emplace(options_, loader_);
  }
  void TearDown() override { lifecycle_.reset(); }

  std::optional<ModelLifecycle> lifecycle_;
  std::map<std::string, base::Status> failures_;
  std::map<std::string, base::Status> unreadable_;
};

TEST_F(PollTest, ModelsComeChangeAndGo) {
  Write("a", "backend: \"b\"", {"1"});
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
  EXPECT_THAT(Poll(), IsEmpty());

  Write("b", "backend: \"b\"", {"1"});
  Write("a", "backend: \"b\" instance_group { count: 2 }", {});
  EXPECT_THAT(Poll(), UnorderedElementsAre("update a:1", "activate a:1", "gone a:1", "load b:1",
                                           "activate b:1"));
  std::filesystem::remove_all(root_ / "a");
  EXPECT_THAT(Poll(), ElementsAre("gone a:1"));
  EXPECT_EQ(IndexText(*lifecycle_), "b/1/READY/\n");
}

TEST_F(PollTest, ACopyBesideAServingVersionChangesNothing) {
  Write("a", "backend: \"b\" version_policy { all { } }", {"1"});
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
  for (const char* copy : {"2 (copy)", "1.bak", "1_old", "3~"}) {
    std::filesystem::create_directories(root_ / "a" / copy);
  }
  Poll();
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_TRUE(lifecycle_->AllReady());
  EXPECT_EQ(IndexText(*lifecycle_), "a/1/READY/\n");
}

TEST_F(PollTest, ADirectoryWithoutAModelBecomesOneWhenItsFilesCome) {
  std::filesystem::create_directories(root_ / "old.bak");
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_TRUE(lifecycle_->AllReady());
  Write("old.bak", "backend: \"b\"", {"1"});
  EXPECT_THAT(Poll(), ElementsAre("load old.bak:1", "activate old.bak:1"));
  // A model that serves continues when its files are taken away.
  std::filesystem::remove_all(root_ / "old.bak" / "1");
  std::filesystem::remove(root_ / "old.bak" / "config.pbtxt");
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_EQ(failures_.size(), 1u);
  EXPECT_EQ(IndexText(*lifecycle_), "old.bak/1/READY/the last load has failed\n");
}

TEST_F(PollTest, AModelThatCannotBeLoadedIsTriedWhenItChanges) {
  Write("a", "no such field: 1", {"1"});
  Poll();
  EXPECT_EQ(failures_.size(), 1u);
  Poll();
  EXPECT_TRUE(failures_.empty()) << "nothing has changed";
  Write("a", "backend: \"b\"", {});
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
}

TEST_F(PollTest, AFailedReloadKeepsWhatServesAndIsTriedAgain) {
  Write("a", "backend: \"b\"", {"1"});
  Poll();
  Write("a", "backend: \"b\" parameters { key: \"bad\" value { string_value: \"1\" } }", {});
  EXPECT_THAT(Poll(), ElementsAre("load a:1"));
  EXPECT_THAT(Poll(), ElementsAre("load a:1"));
  EXPECT_EQ(IndexText(*lifecycle_), "a/1/READY/the last load has failed\n");
}

TEST_F(PollTest, ANameThatTurnsUpTwiceIsUnloadedUntilItIsUnique) {
  Write("r1/a", "backend: \"b\"", {"1"});
  std::filesystem::create_directories(root_ / "r2");
  lifecycle_.reset();
  options_.poll.repositories = {(root_ / "r1").string(), (root_ / "r2").string()};
  lifecycle_.emplace(options_, loader_);
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
  Write("r2/a", "backend: \"b\"", {"1"});
  EXPECT_THAT(Poll(), ElementsAre("gone a:1"));
  EXPECT_EQ(failures_.size(), 1u);
  std::filesystem::remove_all(root_ / "r1" / "a");
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
}

TEST_F(PollTest, ARepositoryThatCannotBeReadKeepsItsModels) {
  Write("r1/a", "backend: \"b\"", {"1"});
  Write("r2/b", "backend: \"b\"", {"1"});
  lifecycle_.reset();
  options_.poll.repositories = {(root_ / "r1").string(), (root_ / "r2").string()};
  lifecycle_.emplace(options_, loader_);
  EXPECT_THAT(Poll(), UnorderedElementsAre("load a:1", "activate a:1", "load b:1", "activate b:1"));

  std::filesystem::rename(root_ / "r1", root_ / "away");
  Write("r2/a", "backend: \"b\"", {"1"});
  std::filesystem::remove_all(root_ / "r2" / "b");
  EXPECT_THAT(Poll(), ElementsAre("gone b:1")) << "the other repository is looked at all the same";
  EXPECT_THAT(unreadable_, ElementsAre(Pair((root_ / "r1").string(), _)));

  std::filesystem::remove_all(root_ / "r2" / "a");
  std::filesystem::rename(root_ / "away", root_ / "r1");
  EXPECT_THAT(Poll(), IsEmpty()) << "it is as it was";
  EXPECT_THAT(unreadable_, IsEmpty());
}

TEST_F(PollTest, ARepositoryThatComesLaterIsFound) {
  lifecycle_.reset();
  options_.poll.repositories = {(root_ / "r1").string()};
  lifecycle_.emplace(options_, loader_);
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_EQ(unreadable_.size(), 1u);
  Write("r1/a", "backend: \"b\"", {"1"});
  EXPECT_THAT(Poll(), ElementsAre("load a:1", "activate a:1"));
  EXPECT_THAT(unreadable_, IsEmpty());
}

TEST_F(PollTest, AListThatBreaksOffUnloadsNothing) {
  Write("a", "backend: \"b\"", {"1"});
  Write("b", "backend: \"b\"", {"1"});
  Poll();
  {
    const base::testing::FailingReaddir failing(root_.string(), EIO);
    EXPECT_THAT(Poll(), IsEmpty());
    EXPECT_EQ(unreadable_.size(), 1u);
    EXPECT_FALSE(lifecycle_->Index(false).ok());
  }
  {
    const base::testing::FailingReaddir failing((root_ / "a").string(), EIO);
    EXPECT_THAT(Poll(), IsEmpty()) << "a model's own files";
    EXPECT_EQ(failures_.size(), 1u);
  }
  EXPECT_THAT(Poll(), IsEmpty());
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_EQ(IndexText(*lifecycle_), "a/1/READY/\nb/1/READY/\n");
}

}  // namespace
}  // namespace nereid::repository
