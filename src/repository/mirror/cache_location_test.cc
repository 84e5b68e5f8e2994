// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/cache_location.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/temporary_directory.h"

namespace nereid::repository::mirror {
namespace {

class CacheLocationTest : public ::testing::Test {
 protected:
  Environment Variables() {
    return [this](const char* name) -> const char* {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    };
  }
  std::map<std::string, std::string> variables_;
  const std::string user_ = std::to_string(::geteuid());
};

TEST_F(CacheLocationTest, IsBelowTheTemporaryFiles) {
  EXPECT_EQ(DefaultCacheDirectory({"s3://b"}, Variables()), "/tmp/nereid-model-cache-" + user_);
  variables_["TMPDIR"] = "/var/tmp/";
  EXPECT_EQ(DefaultCacheDirectory({"s3://b"}, Variables()), "/var/tmp/nereid-model-cache-" + user_);
}

TEST_F(CacheLocationTest, FollowsTheVariablesOfTriton) {
  variables_ = {{"TRITON_AWS_MOUNT_DIRECTORY", "/aws"},
                {"TRITON_GCS_MOUNT_DIRECTORY", "/gcs"},
                {"TRITON_AZURE_MOUNT_DIRECTORY", "/azure/"}};
  EXPECT_EQ(DefaultCacheDirectory({"/local", "s3://b"}, Variables()), "/aws/nereid-model-cache");
  EXPECT_EQ(DefaultCacheDirectory({"gs://b"}, Variables()), "/gcs/nereid-model-cache");
  EXPECT_EQ(DefaultCacheDirectory({"as://a/c"}, Variables()), "/azure/nereid-model-cache");
  variables_["TRITON_AWS_MOUNT_DIRECTORY"] = "";
  EXPECT_EQ(DefaultCacheDirectory({"s3://b"}, Variables()), "/tmp/nereid-model-cache-" + user_);
}

TEST_F(CacheLocationTest, MakesTheDirectoriesAbove) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = (*directory)->path() + "/a/b/cache";
  const auto prepared = PrepareCacheDirectory(path + "/", {}, Variables());
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ(*prepared, path);
  EXPECT_TRUE(base::IsDirectory((*directory)->path() + "/a/b"));
}

TEST_F(CacheLocationTest, RefusesADefaultThatOthersMayWriteTo) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  variables_["TMPDIR"] = (*directory)->path();
  const std::string path = DefaultCacheDirectory({"s3://b"}, Variables());
  EXPECT_TRUE(PrepareCacheDirectory("", {"s3://b"}, Variables()).ok());
  std::filesystem::create_directory(path);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  EXPECT_EQ(PrepareCacheDirectory("", {"s3://b"}, Variables()).status().code(),
            base::StatusCode::kInvalidArgument);
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  EXPECT_TRUE(PrepareCacheDirectory("", {"s3://b"}, Variables()).ok());
  std::filesystem::remove(path);
  std::filesystem::create_directory_symlink("/tmp", path);
  EXPECT_FALSE(PrepareCacheDirectory("", {"s3://b"}, Variables()).ok());
}

}  // namespace
}  // namespace nereid::repository::mirror
