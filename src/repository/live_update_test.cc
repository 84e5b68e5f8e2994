// SPDX-License-Identifier: Apache-2.0
// What a second load of a serving model does: nothing, an update, or a load; and overrides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class LiveUpdateTest : public RepositoryTest {
 protected:
  void Load(const std::string& name = "m", const LoadOverrides& overrides = {}) {
    const base::Status status = lifecycle_->Load(name, overrides);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::shared_ptr<LoadedModel> Serving(int64_t version = -1) {
    return *lifecycle_->Table()->Find("m", version);
  }
  const config::ModelConfig& Config() {
    return *static_cast<FakeLoader::FakeModel&>(*Serving()).source.config;
  }
  void SetUp() override {
    RepositoryTest::SetUp();
    Write("m", "backend: \"b\" instance_group { count: 1 }", {"1"});
    lifecycle_.emplace(options_, loader_);
    Load();
    EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("load m:1", "activate m:1"));
  }
  void TearDown() override { lifecycle_.reset(); }

  std::optional<ModelLifecycle> lifecycle_;
};

TEST_F(LiveUpdateTest, NothingChangedIsNothingDone) {
  Load();
  EXPECT_THAT(loader_.TakeEvents(), IsEmpty());
}

TEST_F(LiveUpdateTest, OtherInstancesUpdateTheServingModel) {
  Write("m", "backend: \"b\" instance_group { count: 2 }", {});
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("update m:1", "activate m:1", "gone m:1"));
  EXPECT_EQ(Config().instance_groups()[0].count, 2);
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\n");
}

TEST_F(LiveUpdateTest, RequestsInFlightKeepWhatTheyHave) {
  const auto in_flight = Serving();
  Write("m", "backend: \"b\" instance_group { count: 2 }", {});
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("update m:1", "activate m:1"));
  EXPECT_NE(Serving(), in_flight);
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\n");
}

TEST_F(LiveUpdateTest, AFailedUpdateLeavesWhatServes) {
  const auto before = Serving();
  Write("m",
        "backend: \"b\" instance_group { count: 2 } "
        "parameters { key: \"bad\" value { string_value: \"1\" } }",
        {});
  EXPECT_THAT(lifecycle_->Load("m").message(), HasSubstr("it is bad"));
  EXPECT_EQ(Serving(), before);
}

TEST_F(LiveUpdateTest, ANewVersionLeavesTheOldOneAlone) {
  Write("m", "backend: \"b\" instance_group { count: 1 } version_policy { all { } }", {"2"});
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("update m:1", "load m:2", "activate m:1",
                                                         "activate m:2", "gone m:1"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\nm/2/READY/\n");
}

TEST_F(LiveUpdateTest, LatestReplacesAndDeletingBringsBack) {
  std::filesystem::create_directories(root_ / "m" / "2");
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("load m:2", "activate m:2", "gone m:1"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/UNAVAILABLE/unloaded\nm/2/READY/\n");
  std::filesystem::remove_all(root_ / "m" / "2");
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("load m:1", "activate m:1", "gone m:2"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\nm/2/UNAVAILABLE/unloaded\n");
  EXPECT_TRUE(lifecycle_->AllReady());
}

TEST_F(LiveUpdateTest, AllSelectedVersionsOrNone) {
  Write("m",
        "backend: \"b\" version_policy { all { } } "
        "parameters { key: \"bad_version\" value { string_value: \"2\" } }",
        {"2", "3"});
  EXPECT_EQ(lifecycle_->Load("m").message(),
            "load failed for model 'm': version 2 is at UNAVAILABLE state: Invalid argument: it is "
            "bad;\n");
  EXPECT_EQ(IndexText(*lifecycle_),
            "m/1/READY/the last load has failed\nm/2/UNAVAILABLE/Invalid argument: it is bad\n"
            "m/3/UNAVAILABLE/unloaded\n");
  EXPECT_FALSE(lifecycle_->AllReady());
  EXPECT_THAT(loader_.TakeEvents(),
              UnorderedElementsAre("load m:1", "load m:2", "load m:3", "gone m:1", "gone m:3"));
  // The failure is not taken for the state of things: the next load tries again.
  EXPECT_FALSE(lifecycle_->Load("m").ok());
}

TEST_F(LiveUpdateTest, AnUnrelatedFileReloads) {
  WriteFile("m/note.txt", "");
  Load();
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("load m:1", "activate m:1", "gone m:1"));
}

TEST_F(LiveUpdateTest, AConfigOverrideStaysUntilTheFilesChange) {
  LoadOverrides overrides;
  overrides.config = R"({"backend":"b","max_batch_size":4})";
  Load("m", overrides);
  EXPECT_EQ(Config().max_batch_size(), 4);
  Load();
  EXPECT_EQ(Config().max_batch_size(), 4);
  WriteFile("m/config.pbtxt", "backend: \"b\"");
  Load();
  EXPECT_EQ(Config().max_batch_size(), 0);
}

TEST_F(LiveUpdateTest, AnOverrideOfInstancesIsAnUpdate) {
  LoadOverrides overrides;
  overrides.config = R"({"backend":"b","instance_group":[{"count":3}]})";
  Load("m", overrides);
  EXPECT_THAT(loader_.TakeEvents(), UnorderedElementsAre("update m:1", "activate m:1", "gone m:1"));
}

TEST_F(LiveUpdateTest, ABadOverrideIsAPollFailureAndKeeps) {
  for (const std::string config : {"{nope", R"({"nope":1})", "[]", ""}) {
    LoadOverrides overrides;
    overrides.config = config;
    const auto refused = lifecycle_->Load("m", overrides);
    EXPECT_EQ(refused.code(), base::StatusCode::kInvalidArgument) << "the client has sent it";
    EXPECT_THAT(refused.message(),
                ::testing::StartsWith("failed to load 'm', failed to poll from model repository: "
                                      "Invalid config override: "));
  }
  EXPECT_THAT(loader_.TakeEvents(), IsEmpty());
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/the last load has failed\n");
}

TEST_F(LiveUpdateTest, FilesStandInForTheDirectoryUntilTheNextLoad) {
  LoadOverrides overrides;
  overrides.config = R"({"backend":"b"})";
  overrides.files = {{"7/model", "x"}};
  Load("m", overrides);
  const std::string staged = static_cast<FakeLoader::FakeModel&>(*Serving()).source.directory;
  EXPECT_TRUE(std::filesystem::exists(staged + "/7/model"));
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/UNAVAILABLE/unloaded\nm/7/READY/\n");
  Load();
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\nm/7/UNAVAILABLE/unloaded\n");
  EXPECT_FALSE(std::filesystem::exists(staged)) << "the files go with the model";
}

TEST_F(LiveUpdateTest, ALoadOfAnEnsembleKeepsTheOverridesOfItsMembers) {
  const auto plain = [](int batch) {
    return "backend: \"b\" max_batch_size: " + std::to_string(batch) +
           " input { name: \"I\" data_type: TYPE_FP32 dims: 1 }"
           " output { name: \"O\" data_type: TYPE_FP32 dims: 1 }";
  };
  Write("m", plain(2), {"1"});
  Write("e",
        "platform: \"ensemble\" input { name: \"X\" data_type: TYPE_FP32 dims: 1 }"
        " output { name: \"Y\" data_type: TYPE_FP32 dims: 1 } ensemble_scheduling { step { "
        "model_name: \"m\" model_version: -1 input_map { key: \"I\" value: \"X\" } "
        "output_map { key: \"O\" value: \"Y\" } } }",
        {"1"});
  LoadOverrides overrides;
  overrides.config =
      R"({"backend":"b","max_batch_size":5,
          "input":[{"name":"I","data_type":"TYPE_FP32","dims":[1]}],
          "output":[{"name":"O","data_type":"TYPE_FP32","dims":[1]}]})";
  Load("m", overrides);
  WriteFile("m/1/weights", "new");
  Load("e");
  EXPECT_EQ(Config().max_batch_size(), 5) << "the files are new, the configuration is kept";
  overrides.files = {{"7/model", "x"}};
  Load("m", overrides);
  Load("e");
  EXPECT_EQ(IndexText(*lifecycle_), "e/1/READY/\nm/1/UNAVAILABLE/unloaded\nm/7/READY/\n");
  Load("m");
  EXPECT_EQ(Config().max_batch_size(), 2) << "a load by its name uses the repository";
  Load("e");
  EXPECT_EQ(Config().max_batch_size(), 2);
}

TEST_F(LiveUpdateTest, AModelOfFilesAloneServesAndIsNotListed) {
  LoadOverrides overrides;
  overrides.config = R"({"backend":"b"})";
  overrides.files = {{"1/model", "x"}};
  Load("ghost", overrides);
  EXPECT_TRUE(lifecycle_->Table()->Find("ghost", -1).ok());
  EXPECT_EQ(IndexText(*lifecycle_), "m/1/READY/\n");
  EXPECT_TRUE(lifecycle_->Unload("ghost").ok());
  EXPECT_FALSE(lifecycle_->Table()->Find("ghost", -1).ok());
  overrides.config.reset();
  EXPECT_EQ(lifecycle_->Load("ghost", overrides).ToString(),
            "Invalid argument: failed to load 'ghost', failed to poll from model repository: Load "
            "parameter 'config' must be specified for model file override");
}

}  // namespace
}  // namespace nereid::repository
