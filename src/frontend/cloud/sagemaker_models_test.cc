// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/testing/fake_inference_service.h"
#include "base/temporary_directory.h"

namespace nereid::frontend::cloud {
namespace {

using api::testing::FakeInferenceService;
using base::Status;
using base::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FakeDirectories final : public api::ModelDirectories {
 public:
  base::Result<std::string> Add(const std::string& directory, const std::string& model) override {
    if (!refusal.ok()) return refusal;
    added.push_back(directory + "=" + model);
    return directory;
  }
  Status Remove(const std::string& directory) override {
    removed.push_back(directory);
    return Status::Ok();
  }

  Status refusal;
  std::vector<std::string> added, removed;
};

class SagemakerModelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto directory = base::TemporaryDirectory::Create();
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    directory_ = std::move(directory).value();
    root_ = std::filesystem::path(directory_->path()) / "root";
    std::filesystem::create_directories(root_ / "a" / "model");
    std::filesystem::create_directories(std::filesystem::path(directory_->path()) / "outside");
    models_ = std::make_unique<SagemakerModels>(
        service_, directories_, SagemakerModels::Options{{root_.string()}, /*page_size=*/2});
    service_.on_load = [this](const std::string& name, const auto&) {
      if (service_.load_result.ok()) service_.models[name] = {};
    };
    service_.on_unload = [this](const std::string& name, bool) { service_.models.erase(name); };
  }
  Status Load(const std::string& name) { return LoadAt(name, (root_ / name / "model").string()); }
  Status LoadAt(const std::string& name, const std::string& url) {
    return models_->Load({name, url}, [] { return false; });
  }
  Status Unload(const std::string& name) {
    return models_->Unload(name, [] { return false; });
  }
  std::string Names(std::string_view token = {}) {
    const auto page = models_->List(token);
    if (!page.ok()) return page.status().message();
    std::string names;
    for (const auto& model : page->models) names += model.name + " ";
    return names + page->next_page_token;
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  std::filesystem::path root_;
  FakeInferenceService service_;
  FakeDirectories directories_;
  std::unique_ptr<SagemakerModels> models_;
};

TEST_F(SagemakerModelsTest, LoadsFindsAndUnloads) {
  ASSERT_TRUE(Load("a").ok());
  EXPECT_THAT(directories_.added, ElementsAre((root_ / "a" / "model").string() + "=a"));
  EXPECT_EQ(models_->Find("a")->url, (root_ / "a" / "model").string());
  EXPECT_EQ(Names(), "a ");
  ASSERT_TRUE(Unload("a").ok());
  EXPECT_THAT(directories_.removed, ElementsAre((root_ / "a" / "model").string()));
  EXPECT_EQ(models_->Find("a").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Unload("a").message(), "model 'a' is not loaded");
  EXPECT_EQ(Names(), "");
}

TEST_F(SagemakerModelsTest, OnlyDirectoriesBelowTheRootsAreLoaded) {
  const std::string base = directory_->path();
  std::filesystem::create_directory_symlink(base + "/outside", root_ / "link");
  for (const std::string& url :
       {std::string(), std::string("a"), std::string("/"), std::string("/etc"), root_.string(),
        root_.string() + "/", root_.string() + "/a/..", root_.string() + "/../outside",
        root_.string() + "x", root_.string() + "/link", root_.string() + "/link/deeper",
        base + "/outside", std::string("file://") + root_.string() + "/a",
        std::string("s3://bucket/model"), root_.string() + std::string("/a\0/../..", 9),
        root_.string() + "/" + std::string(5000, 'x')}) {
    const Status status = LoadAt("m", url);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << url;
    EXPECT_EQ(status.message(),
              "the url of a model must be the path of a directory below '" + root_.string() + "'");
  }
  EXPECT_THAT(directories_.added, IsEmpty());
  EXPECT_TRUE(LoadAt("m", root_.string() + "/a/../a/./model/").ok());
}

TEST_F(SagemakerModelsTest, ALoadedNameIsRefused) {
  ASSERT_TRUE(Load("a").ok());
  EXPECT_EQ(Load("a").code(), StatusCode::kAlreadyExists);
  // A model of the server's own repositories, too.
  EXPECT_EQ(LoadAt("echo", (root_ / "a").string()).message(), "model 'echo' is already loaded");
  EXPECT_EQ(Unload("echo").code(), StatusCode::kNotFound);
  EXPECT_EQ(models_->Find("echo").status().code(), StatusCode::kNotFound);
}

TEST_F(SagemakerModelsTest, AFailedLoadLeavesNothing) {
  service_.load_result = Status::Internal("out of memory");
  EXPECT_EQ(Load("a").message(), "out of memory");
  EXPECT_EQ(directories_.removed.size(), 1u);
  EXPECT_EQ(Names(), "");
  directories_.refusal = Status::AlreadyExists("registered");
  EXPECT_EQ(Load("a").message(), "registered");
  service_.load_result = directories_.refusal = Status::Ok();
  EXPECT_TRUE(Load("a").ok());
}

TEST_F(SagemakerModelsTest, AFailedUnloadKeepsTheModel) {
  ASSERT_TRUE(Load("a").ok());
  service_.on_unload = nullptr;
  service_.unload_result = Status::Unavailable("Server exiting");
  EXPECT_EQ(Unload("a").message(), "Server exiting");
  EXPECT_EQ(Names(), "a ");
}

TEST_F(SagemakerModelsTest, AModelThatWasUnloadedElsewhereMayBeLoadedAgain) {
  ASSERT_TRUE(Load("a").ok());
  service_.models.erase("a");
  EXPECT_EQ(Names(), "");
  EXPECT_EQ(models_->Find("a").status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(Load("a").ok());
  EXPECT_EQ(directories_.removed.size(), 1u);
  EXPECT_EQ(Names(), "a ");
}

TEST_F(SagemakerModelsTest, WhileItIsLoadedNothingElseHappensToAModel) {
  service_.on_load = [this](const std::string& name, const auto&) {
    EXPECT_EQ(Load(name).code(), StatusCode::kAlreadyExists);
    EXPECT_EQ(Unload(name).code(), StatusCode::kNotFound);
    EXPECT_EQ(Names(), "");
  };
  EXPECT_TRUE(Load("a").ok());
}

TEST_F(SagemakerModelsTest, UnloadWaitsUntilTheModelIsGone) {
  ASSERT_TRUE(Load("a").ok());
  service_.index = {{"a", "1", "UNLOADING", ""}};
  int looks = 0;
  service_.on_index = [&] {
    EXPECT_EQ(Load("a").code(), StatusCode::kAlreadyExists);
    EXPECT_EQ(Unload("a").code(), StatusCode::kNotFound);
    EXPECT_THAT(directories_.removed, IsEmpty());
    if (++looks == 3) service_.index[0].state = "UNAVAILABLE";
  };
  EXPECT_TRUE(Unload("a").ok());
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(directories_.removed.size(), 1u);
}

TEST_F(SagemakerModelsTest, TheWaitEndsWhenTheClientGoesOrTheServerStops) {
  ASSERT_TRUE(Load("a").ok());
  service_.index = {{"a", "1", "UNLOADING", ""}};
  EXPECT_TRUE(models_->Unload("a", [] { return true; }).ok());
  service_.index.clear();
  ASSERT_TRUE(Load("a").ok());
  service_.index = {{"a", "1", "UNLOADING", ""}};
  models_->Stop();
  EXPECT_TRUE(Unload("a").ok());
}

TEST_F(SagemakerModelsTest, ListsInPages) {
  for (const char* name : {"d", "b", "e", "a", "c"}) {
    std::filesystem::create_directories(root_ / name / "model");
    ASSERT_TRUE(Load(name).ok());
  }
  EXPECT_EQ(Names(), "a b 62");
  EXPECT_EQ(Names("62"), "c d 64");
  EXPECT_EQ(Names("64"), "e ");
  ASSERT_TRUE(Unload("b").ok());
  EXPECT_EQ(Names("62"), "c d 64");
  for (const char* token : {"6", "xy", "62 "}) {
    EXPECT_THAT(Names(token), HasSubstr("next_page_token must be")) << token;
  }
}

}  // namespace
}  // namespace nereid::frontend::cloud
