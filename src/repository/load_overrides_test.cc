// SPDX-License-Identifier: Apache-2.0
#include "repository/load_overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"

namespace nereid::repository {
namespace {

using ::testing::HasSubstr;

TEST(LoadOverridesTest, ParametersAreAConfigurationAndFiles) {
  const auto none = ParseLoadParameters({});
  EXPECT_TRUE(none->empty());
  const auto some = ParseLoadParameters(
      {{"config", "{}"}, {"file:1/a", "x"}, {"file:1/b", "y"}, {"file:1/a", "z"}});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(*some->config, "{}");
  ASSERT_EQ(some->files.size(), 2u);
  EXPECT_EQ(some->files[0].path, "1/b");
  EXPECT_EQ(some->files[1].content, "z");
  EXPECT_EQ(ParseLoadParameters({{"color", "red"}}).status().message(),
            "Unrecognized load parameter 'color'");
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 10'001; ++i) many.emplace_back("file:" + std::to_string(i), "");
  EXPECT_THAT(ParseLoadParameters(many).status().message(), HasSubstr("10000 files"));
}

LoadOverrides With(const std::string& path, const std::string& content = "content") {
  LoadOverrides overrides;
  overrides.config = "{}";
  overrides.files = {{path, content}};
  return overrides;
}

TEST(LoadOverridesTest, FilesAreWrittenAndGoWithTheDirectory) {
  std::string path;
  {
    const auto directory = StageFiles(With("7/deep/model.bin", std::string("a\0b", 3)));
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    path = (*directory)->path();
    EXPECT_EQ(*base::ReadFile(path + "/7/deep/model.bin"), std::string("a\0b", 3));
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << "a model may be a secret";
  }
  EXPECT_FALSE(base::PathExists(path));
}

TEST(LoadOverridesTest, AbsolutePathsAreBelowTheDirectoryToo) {
  const auto directory = StageFiles(With("/1/x/../model"));
  ASSERT_TRUE(directory.ok());
  EXPECT_TRUE(base::PathExists((*directory)->path() + "/1/model"));
}

TEST(LoadOverridesTest, FilesNeedAConfiguration) {
  LoadOverrides overrides = With("1/model");
  overrides.config.reset();
  EXPECT_EQ(StageFiles(overrides).status().message(),
            "Load parameter 'config' must be specified for model file override");
}

TEST(LoadOverridesTest, PathsThatLeaveTheDirectoryAreRefused) {
  EXPECT_EQ(StageFiles(With("../../x")).status().message(),
            "Invalid file parameter 'file:../../x' with normalized path '/x' must stay within "
            "model directory.");
  for (const std::string& path :
       {std::string("1/../../x"), std::string("/../x"), std::string(".."), std::string(""),
        std::string("1/"), std::string("."), std::string("1/a\0b", 5)}) {
    EXPECT_EQ(StageFiles(With(path)).status().code(), base::StatusCode::kInvalidArgument) << path;
  }
}

TEST(LoadOverridesTest, AFileInTheWayOfADirectoryIsAFailure) {
  LoadOverrides overrides = With("1");
  overrides.files.push_back({"1/model", ""});
  EXPECT_FALSE(StageFiles(overrides).ok());
}

}  // namespace
}  // namespace nereid::repository
