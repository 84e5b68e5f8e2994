// SPDX-License-Identifier: Apache-2.0
// Models on GPUs: which instances they get, limits of memory, statistics. The GPUs are those of the
// fake driver (tests/fake_gpu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../../tests/fake_gpu/control.h"
#include "backend/testing/copy_backend.h"
#include "model/model.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kGiB = size_t{1} << 30;

const bool environment = [] {
  setenv("NEREID_FAKE_GPUS", "3", 1);
  setenv("NEREID_FAKE_GPU_CAPABILITY", "9.0,5.2,9.0", 1);
  setenv("NEREID_FAKE_GPU_USED", std::to_string(kGiB / 2).c_str(), 1);
  return true;
}();

constexpr const char* kConfig = R"(
  name: "m" backend: "copy" max_batch_size: 4
  input { name: "IN" data_type: TYPE_INT8 dims: [ -1 ] }
  output { name: "OUT0" data_type: TYPE_INT8 dims: [ -1 ] } )";

class GpuInstancesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(backends_.AddBuiltIn("copy", backend::MakeCopyBackend()).ok());
  }
  void TearDown() override { fake_gpu::Control::Get().fail(""); }

  base::Result<std::unique_ptr<Model>> Load(const std::string& groups, GpuLoadLimits limits = {}) {
    ModelSource source;
    source.name = "m";
    source.version = 1;
    source.directory = "/nonexistent";
    source.version_directory = "/nonexistent/1";
    source.config = request::MakeModel(kConfig + groups)->config;
    ModelEnvironment environment{backends_, base::SteadyClock(), timers_};
    environment.gpus = &gpus_;
    environment.gpu_load_limits = std::move(limits);
    return Model::Create(environment, source);
  }
  std::string FailureOf(const std::string& groups, GpuLoadLimits limits = {}) {
    const auto model = Load(groups, std::move(limits));
    return model.ok() ? "" : model.status().message();
  }

  const device::Gpus gpus_ = device::Gpus::Find(6.0);
  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
};

GpuLoadLimits Limit(int gpu, double fraction) {
  return GpuLoadLimits(std::map<int, double>{{gpu, fraction}});
}

void Infer(Model& model) {
  const auto sink = std::make_shared<request::RecordingSink>();
  auto request = std::make_unique<request::InferenceRequest>();
  request->AddInput("IN", tensor::DataType::kInt8, {1, 3}).value()->Append("abc", 3);
  request->SetSink(sink);
  request::BindRequest(
      *request, std::shared_ptr<const request::ModelIdentity>(&model.identity(), [](auto*) {}));
  ASSERT_TRUE(request::Normalize(*request).ok());
  request->times.start_ns = base::SteadyClock().NowNs();
  ASSERT_TRUE(model.Enqueue(request).ok());
  sink->WaitUntilDone();
  sink->Clear();
}

TEST_F(GpuInstancesTest, AModelWithoutGroupsIsOnAllGpus) {
  const auto model = Load("");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto& groups = (*model)->config().instance_groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].kind, config::InstanceKind::kGpu);
  EXPECT_THAT(groups[0].gpus, ElementsAre(0, 2));
}

TEST_F(GpuInstancesTest, RefusesGpusThatCannotBeUsed) {
  EXPECT_EQ(FailureOf("instance_group { kind: KIND_GPU gpus: [ 1 ] }"),
            "instance group m_0 of model m specifies invalid or unsupported gpu id 1. GPUs with at "
            "least the minimum required CUDA compute compatibility of 6.000000 are: 0, 2");
  EXPECT_EQ(FailureOf("instance_group { kind: KIND_CPU gpus: [ 0 ] }"),
            "instance group m_0 of model m has kind KIND_CPU but specifies one or more GPUs");
}

TEST_F(GpuInstancesTest, AnUpdateChangesTheGpus) {
  const auto model = Load("instance_group { kind: KIND_GPU gpus: [ 0 ] }");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto wanted = [](const char* groups) {
    return request::MakeModel(std::string(kConfig) + groups)->config;
  };
  auto update =
      (*model)->PrepareUpdate(*wanted("instance_group { kind: KIND_GPU gpus: [ 0, 2 ] }"));
  ASSERT_TRUE(update.ok()) << update.status().message();
  EXPECT_EQ(update->created.size(), 1u);
  EXPECT_TRUE(update->removed.empty());
  (*model)->ApplyUpdate(std::move(*update));
  EXPECT_THAT((*model)
                  ->PrepareUpdate(*wanted("instance_group { kind: KIND_GPU gpus: [ 7 ] }"))
                  .status()
                  .message(),
              HasSubstr("invalid or unsupported gpu id 7"));
}

TEST_F(GpuInstancesTest, MemoryAboveTheLimitRefusesTheLoad) {
  const char* const group = "instance_group { kind: KIND_GPU gpus: [ 2 ] }";
  EXPECT_EQ(FailureOf(group, Limit(2, 0.5)), "");
  EXPECT_EQ(FailureOf(group, Limit(0, 0)), "") << "the limit of another GPU";
  const auto model = Load(group, Limit(2, 0.49));
  EXPECT_EQ(model.status().code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(model.status().message(),
            "can not create model 'm_0_0': memory limit set for GPU 2 has exceeded, model loading "
            "is rejected.");
  EXPECT_EQ(FailureOf("instance_group { kind: KIND_CPU }", Limit(0, 0)), "");
}

TEST_F(GpuInstancesTest, MemoryThatCannotBeReadRefusesTheLoad) {
  fake_gpu::Control::Get().fail("cuMemGetInfo_v2=719");
  EXPECT_EQ(FailureOf("instance_group { kind: KIND_GPU gpus: [ 2 ] }", Limit(2, 1)),
            "cannot read the memory of GPU 2: unspecified launch failure "
            "(CUDA_ERROR_LAUNCH_FAILED)");
}

TEST_F(GpuInstancesTest, WithoutALimitTheDriverIsNotAsked) {
  const long calls = fake_gpu::Control::Get().calls("cuMemGetInfo_v2");
  ASSERT_TRUE(Load("instance_group { kind: KIND_GPU }").ok());
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuMemGetInfo_v2"), calls);
}

TEST_F(GpuInstancesTest, StatisticsAreAlsoKeptByGpu) {
  const auto model = Load("instance_group { kind: KIND_GPU gpus: [ 2 ] }");
  ASSERT_TRUE(model.ok());
  Infer(**model);
  Infer(**model);
  const auto statistics = (*model)->Statistics();
  EXPECT_EQ(statistics.inference_count, 2u);
  ASSERT_EQ(statistics.on_gpus.size(), 1u);
  const auto& [uuid, part] = *statistics.on_gpus.begin();
  EXPECT_EQ(uuid, "GPU-fa4e0000-0000-4000-8000-000000000003");
  EXPECT_EQ(part.inference_count, 2u);
  EXPECT_EQ(part.inference_stats.success.count, 2u);
  EXPECT_EQ(part.inference_stats.success.ns, statistics.inference_stats.success.ns);
}

// Tells whether executions were ever at the same time.
class Overlap {
 public:
  void Execute() {
    if (running_.exchange(true)) seen_ = true;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    running_ = false;
  }
  bool seen() const { return seen_; }

 private:
  std::atomic<bool> running_{false};
  std::atomic<bool> seen_{false};
};

TEST(DeviceTurn, ExecutionsDoNotOverlap) {
  DeviceTurn turn;
  Overlap overlap;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) turn.Run([&] { overlap.Execute(); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(overlap.seen());
  EXPECT_EQ(turn.executions(), 200u);
}

TEST_F(GpuInstancesTest, ABackendThatBlocksItsDeviceServes) {
  auto backend = backends_.Get({"m", "copy", "", "", ""});
  ASSERT_TRUE(backend.ok()) << backend.status().message();
  (*backend)->execution_policy = TRITONBACKEND_EXECUTION_DEVICE_BLOCKING;
  const auto model = Load("instance_group { kind: KIND_GPU count: 3 }");
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (int i = 0; i < 10; ++i) Infer(**model);
  EXPECT_EQ((*model)->Statistics().inference_count, 10u);
}

TEST_F(GpuInstancesTest, InstancesOnTheCpuHaveNoGpu) {
  const auto model = Load("instance_group { kind: KIND_CPU }");
  ASSERT_TRUE(model.ok());
  Infer(**model);
  EXPECT_TRUE((*model)->Statistics().on_gpus.empty());
}

}  // namespace
}  // namespace nereid::model
