// SPDX-License-Identifier: Apache-2.0
#include "framework/placement.h"

#include <gtest/gtest.h>

#include "testing/fake_server.h"

namespace nereid::framework {
namespace {

backend::ModelConfig Config(const std::string& kind, const std::vector<int64_t>& gpus = {}) {
  backend::ModelConfig config;
  config.instance_groups.push_back({kind, gpus});
  return config;
}

TEST(PlacementTest, OfAnInstance) {
  TRITONBACKEND_ModelInstance instance;
  Placement placement;
  ASSERT_TRUE(ReadPlacement(&instance, &placement).ok());
  EXPECT_FALSE(placement.on_gpu());
  instance.kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  instance.device_id = 2;
  ASSERT_TRUE(ReadPlacement(&instance, &placement).ok());
  EXPECT_EQ(placement.gpu, 2);
  instance.kind = TRITONSERVER_INSTANCEGROUPKIND_MODEL;
  ASSERT_TRUE(ReadPlacement(&instance, &placement).ok());
  EXPECT_FALSE(placement.on_gpu());
}

TEST(PlacementTest, OfTheFirstInstance) {
  EXPECT_EQ(FirstPlacement(Config("KIND_GPU", {3, 1}), false).gpu, 3);
  EXPECT_EQ(FirstPlacement(Config("KIND_GPU"), true).gpu, 0);
  EXPECT_FALSE(FirstPlacement(Config("KIND_CPU"), true).on_gpu());
  EXPECT_FALSE(FirstPlacement(Config("KIND_MODEL"), true).on_gpu());
  EXPECT_EQ(FirstPlacement(Config("KIND_AUTO", {1}), true).gpu, 1);
  EXPECT_FALSE(FirstPlacement(Config("KIND_AUTO"), false).on_gpu());
  EXPECT_EQ(FirstPlacement(backend::ModelConfig(), true).gpu, 0);
  EXPECT_FALSE(FirstPlacement(backend::ModelConfig(), false).on_gpu());
}

}  // namespace
}  // namespace nereid::framework
