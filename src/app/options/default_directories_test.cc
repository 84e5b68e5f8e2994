// SPDX-License-Identifier: Apache-2.0
#include "app/options/default_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nereid::app {
namespace {

using ::testing::HasSubstr;

TEST(DefaultDirectoriesTest, SearchesTritonsThenTheBuildsThenTheInstalledDirectory) {
  const auto find = [](std::set<std::string> existing, const std::string& executable) {
    return DefaultPluginDirectory("backends", executable, [existing](const std::string& path) {
      return existing.contains(path);
    });
  };
  const std::string opt = "/opt/tritonserver/backends";
  EXPECT_EQ(find({opt, "/b/backends"}, "/b/bin/nereid"), opt);
  EXPECT_EQ(find({"/b/backends", "/b/lib/nereid/backends"}, "/b/bin/nereid"), "/b/backends");
  EXPECT_EQ(find({"/usr/lib/nereid/backends"}, "/usr/bin/nereid"), "/usr/lib/nereid/backends");
  EXPECT_EQ(find({}, "/usr/bin/nereid"), opt);
  EXPECT_EQ(find({}, ""), opt);
  EXPECT_THAT(ExecutablePath(), HasSubstr("/app_options_test"));
}

}  // namespace
}  // namespace nereid::app
