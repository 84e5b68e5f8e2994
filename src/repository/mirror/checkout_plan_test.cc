// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/checkout_plan.h"

#include <gtest/gtest.h>

namespace nereid::repository::mirror {
namespace {

using storage::ObjectInfo;

base::Result<CheckoutPlan> Plan(const std::vector<std::string>& keys) {
  std::vector<ObjectInfo> objects;
  for (const std::string& key : keys) objects.push_back({"r/m/" + key, 10, "v"});
  return PlanCheckout("s3://b/r/m", "r/m/", objects);
}

TEST(CheckoutPlan, HasFilesAndTheirDirectories) {
  const auto plan = Plan({"1/a/b.bin", "config.pbtxt", "1/model.onnx", "2/", "3/", "3/x", ""});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->directories, (std::vector<std::string>{"1", "1/a", "2", "3"}));
  std::vector<std::string> paths;
  for (const auto& file : plan->files) {
    paths.push_back(file.path);
    EXPECT_EQ(file.object.key, "r/m/" + file.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"1/a/b.bin", "1/model.onnx", "3/x", "config.pbtxt"}));
  EXPECT_EQ(plan->bytes, 40u);
}

TEST(CheckoutPlan, RefusesKeysThatAreNoPaths) {
  for (const std::string key :
       {"../x", "a/../../x", "..", ".", "a/./b", "a//b", "/etc/passwd", "//", "../", "a/../"}) {
    const auto plan = Plan({"config.pbtxt", key});
    EXPECT_EQ(plan.status().code(), base::StatusCode::kInvalidArgument) << key;
    EXPECT_NE(plan.status().message().find("'r/m/" + key + "'"), std::string::npos)
        << plan.status().message();
  }
  EXPECT_FALSE(Plan({std::string("a\0b", 3)}).ok());
}

TEST(CheckoutPlan, RefusesNamesThatAreTooLong) {
  EXPECT_TRUE(Plan({std::string(255, 'a')}).ok());
  EXPECT_FALSE(Plan({std::string(256, 'a')}).ok());
  std::string path;
  for (int i = 0; i < 1024; ++i) path += "a/";
  EXPECT_TRUE(Plan({path}).ok());
  EXPECT_FALSE(Plan({path + "a/b"}).ok());
}

TEST(CheckoutPlan, RefusesCollisions) {
  const auto both = Plan({"1", "1/model.onnx"});
  EXPECT_EQ(both.status().message(),
            "model 's3://b/r/m': the object 'r/m/1' is a file, and other objects use its name as a "
            "directory; rename or delete the object");
  EXPECT_FALSE(Plan({"1/", "1"}).ok());
  EXPECT_FALSE(Plan({"a/b/c", "a/b"}).ok());
  EXPECT_FALSE(Plan({"a", "a"}).ok());
  EXPECT_TRUE(Plan({"a-b", "a/b", "a.b"}).ok());
}

TEST(CheckoutPlan, ChecksTheSum) {
  const std::vector<ObjectInfo> objects{{"m/a", UINT64_MAX, "v"}, {"m/b", 1, "v"}};
  EXPECT_FALSE(PlanCheckout("m", "m/", objects).ok());
}

}  // namespace
}  // namespace nereid::repository::mirror
