// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/engine_pool.h"

#include <gtest/gtest.h>

#include "tensorrt/tensorrt_fixture.h"

namespace nereid::tensorrt::testing {
namespace {

class EnginePoolTest : public TensorRtTest {
 protected:
  EnginePoolTest() {
    EXPECT_TRUE(Gpu::Find(0, &gpu_).ok());
    EXPECT_TRUE(TensorRtLibrary::Get("", &library_).ok());
    EXPECT_TRUE(current_.Enter(gpu_).ok());
  }

  EngineLease Take(EnginePool* pool, const std::vector<std::string>& profiles, int dla_core = -1) {
    EngineLease lease;
    EXPECT_EQ(pool->Take(*library_, gpu_, {Path(), false, dla_core}, profiles, &lease).message(),
              "");
    return lease;
  }

  Gpu* gpu_ = nullptr;
  const TensorRtLibrary* library_ = nullptr;
  CurrentGpu current_;
};

TEST_F(EnginePoolTest, InstancesShareAnEngine) {
  EnginePool pool(true);
  const EngineLease a = Take(&pool, {"0"});
  const EngineLease b = Take(&pool, {"1", "0"});
  EXPECT_EQ(a.engine, b.engine);
  EXPECT_EQ(b.profiles, (std::vector<int>{1, 0}));
  const EngineLease on_dla = Take(&pool, {"0"}, 1);
  EXPECT_NE(on_dla.engine, a.engine);
  EXPECT_EQ(fake().plans_read, 2);
}

TEST_F(EnginePoolTest, BeforeTensorRt10AProfileHasOneContext) {
  EnginePool pool(false);
  const EngineLease a = Take(&pool, {"0"});
  const EngineLease b = Take(&pool, {"1"});
  const EngineLease c = Take(&pool, {"0"});
  const EngineLease d = Take(&pool, {"1"});
  EXPECT_EQ(a.engine, b.engine);
  EXPECT_NE(a.engine, c.engine);
  EXPECT_EQ(c.engine, d.engine);
  EXPECT_EQ(fake().plans_read, 2);
}

TEST_F(EnginePoolTest, APlanOfAnOlderTensorRtIsNotShared) {
  WritePlan("exclusive_profiles\ninput x FP32 -1,4\noutput y FP32 -1,4\n");
  EnginePool pool(true);
  const EngineLease a = Take(&pool, {"0"});
  const auto context = [](const EngineLease& lease) {
    std::unique_ptr<nvinfer1::IExecutionContext> made;
    EXPECT_TRUE(lease.engine->NewContext(ContextMemory::kStatic, &made).ok());
    EXPECT_TRUE(made->setOptimizationProfileAsync(0, nullptr));
    return made;
  };
  const auto of_a = context(a);
  const EngineLease b = Take(&pool, {"0"});
  EXPECT_NE(a.engine, b.engine);
  EXPECT_FALSE(b.shares_profiles);
  const auto of_b = context(b);
  EXPECT_EQ(fake().plans_read, 2);
}

TEST_F(EnginePoolTest, AnEngineOutlivesItsPool) {
  EngineLease lease;
  {
    EnginePool pool;
    lease = Take(&pool, {});
  }
  EXPECT_EQ(fake().engines, 1);
  EXPECT_EQ(lease.engine->profile_count(), 2);
}

}  // namespace
}  // namespace nereid::tensorrt::testing
