// SPDX-License-Identifier: Apache-2.0
#include "server/residency/model_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_directory.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ModelFactsTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_->path()) / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  ModelFacts Read(const repository::LoadOverrides& overrides = {}) const {
    return ReadModelFacts({"m", folder_->path()}, {}, overrides);
  }

  const std::unique_ptr<base::TemporaryDirectory> folder_ =
      base::TemporaryDirectory::Create().value();
};

TEST_F(ModelFactsTest, TheVersionsOfThePolicyCount) {
  Write("config.pbtxt", "name: \"m\" version_policy { latest { num_versions: 2 } }");
  Write("1/weights", "12345");
  Write("2/weights", "123");
  Write("3/data/weights", "1");
  Write("configs/other", "123456");
  const ModelFacts facts = Read();
  EXPECT_THAT(facts.versions, ElementsAre(2, 3));
  EXPECT_EQ(facts.file_bytes, 4u);
  EXPECT_FALSE(facts.is_pinned);
  EXPECT_EQ(facts.written->name(), "m");
}

TEST_F(ModelFactsTest, AModelCanPinItself) {
  for (const auto& [value, is_pinned] : {std::pair("true", true), std::pair("false", false)}) {
    Write("config.pbtxt", std::string("parameters { key: \"memory_pinned\" value: "
                                      "{ string_value: \"") +
                              value + "\" } }");
    EXPECT_EQ(Read().is_pinned, is_pinned) << value;
  }
}

TEST_F(ModelFactsTest, AnEnsembleHasMembers) {
  Write("config.pbtxt",
        "platform: \"ensemble\" ensemble_scheduling { step { model_name: \"x\" } "
        "step { model_name: \"y\" } }");
  EXPECT_THAT(Read().members, ElementsAre("x", "y"));
}

TEST_F(ModelFactsTest, FilesOfALoadPinTheModel) {
  repository::LoadOverrides overrides;
  overrides.config = R"({"name": "m"})";
  overrides.files.push_back({"1/weights", "12"});
  const ModelFacts facts = Read(overrides);
  EXPECT_TRUE(facts.is_pinned);
  EXPECT_THAT(facts.versions, IsEmpty());
}

TEST_F(ModelFactsTest, WhatCannotBeReadIsLeftOut) {
  Write("config.pbtxt", "name: [");
  Write("1/weights", "12");
  const ModelFacts facts = Read();
  EXPECT_EQ(facts.written, nullptr);
  EXPECT_EQ(facts.file_bytes, 2u);
  EXPECT_EQ(ReadModelFacts({"m", folder_->path() + "/none"}, {}).file_bytes, 0u);
  EXPECT_EQ(DirectoryBytes(folder_->path() + "/none"), 0u);
}

}  // namespace
}  // namespace nereid::server
