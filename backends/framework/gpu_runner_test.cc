// SPDX-License-Identifier: Apache-2.0
// Gathering and scattering in the memory of the fake GPU, over a session that computes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "../../tests/fake_gpu/control.h"
#include "device/context.h"
#include "framework/runner.h"
#include "testing/fake_server.h"

namespace nereid::framework {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using backend::testing::GpuBuffers;
using backend::testing::PinnedBuffers;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Floats = std::vector<float>;

const fake_gpu::Control& Fake() { return fake_gpu::Control::Get(); }

/// Memory of the fake GPU with a content, freed at the end.
class GpuBytes {
 public:
  explicit GpuBytes(uint64_t size) {
    const auto current = device::ScopedDevice::Enter(0);
    EXPECT_TRUE(current.ok());
    EXPECT_EQ((*device::CudaDriver::Get())->MemAlloc(&data_, size), 0);
  }
  GpuBytes(const void* content, uint64_t size) : GpuBytes(size) {
    std::memcpy(Host(size), content, size);
  }
  GpuBytes(const GpuBytes&) = delete;
  GpuBytes& operator=(const GpuBytes&) = delete;
  ~GpuBytes() {
    const auto current = device::ScopedDevice::Enter(0);
    (*device::CudaDriver::Get())->MemFree(data_);
  }

  char* data() const { return reinterpret_cast<char*>(data_); }
  void* Host(uint64_t size) const { return Fake().host_address(data_, size); }

 private:
  device::CuPointer data_ = 0;
};

/// Returns the floats at an address of the fake GPU.
Floats OnGpu(const void* data, size_t count) {
  Floats values(count);
  std::memcpy(values.data(),
              Fake().host_address(reinterpret_cast<uint64_t>(data), count * sizeof(float)),
              count * sizeof(float));
  return values;
}

/// Gives back its inputs, in the memory in which it got them, or in its places.
class EchoSession final : public Session {
 public:
  explicit EchoSession(int gpu) : gpu_(gpu) {}
  int gpu() const override { return gpu_; }

  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    seen.assign(inputs.begin(), inputs.end());
    wanted_on_gpu.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const InputTensor& input = inputs[outputs[i]];
      OutputTensor* result = &results[i];
      wanted_on_gpu.push_back(result->wanted_on_gpu);
      if (result->place.data != nullptr) {
        GpuCopies copies;
        NEREID_BACKEND_TRY(
            copies.Add(result->place.data, result->place.gpu, input.data, input.gpu, input.size));
        NEREID_BACKEND_TRY(copies.Wait());
        result->in_place = true;
        continue;
      }
      result->data_type = input.data_type;
      result->shape.assign(input.shape.begin(), input.shape.end());
      result->data = input.data;
      result->size = input.size;
      result->gpu = input.gpu;
      result->texts.assign(input.texts.begin(), input.texts.end());
    }
    return {};
  }

  std::vector<InputTensor> seen;
  std::vector<bool> wanted_on_gpu;

 private:
  const int gpu_;
};

class GpuRunnerTest : public ::testing::Test {
 protected:
  GpuRunnerTest() {
    model_.backend = &backend_;
    instance_.model = &model_;
    plan_ = std::make_shared<RunPlan>();
    plan_->model_name = "m";
    plan_->batching = true;
    PlannedInput& input = plan_->inputs.emplace_back();
    input.name = "x";
    input.data_type = TRITONSERVER_TYPE_FP32;
    PlannedOutput& output = plan_->outputs.emplace_back();
    output.name = "y";
    output.data_type = TRITONSERVER_TYPE_FP32;
    output.listed = true;
  }
  ~GpuRunnerTest() override {
    GpuBuffers() = nullptr;
    Fake().fail("");
  }

  /// Adds an input x of [1,N] in host memory.
  static void Ask(TRITONBACKEND_Request* request, const Floats& values) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, static_cast<int64_t>(values.size())},
                             values);
    request->outputs = {"y"};
  }
  /// Adds the same in the memory of the GPU.
  void AskOnGpu(TRITONBACKEND_Request* request, const Floats& values) {
    Ask(request, values);
    buffers_.push_back(std::make_unique<GpuBytes>(values.data(), values.size() * sizeof(float)));
    request->inputs[0].gpu_pieces = {buffers_.back()->data()};
  }
  /// Lets clients take outputs in the memory of the GPU.
  void TakeOutputsOnGpu() {
    GpuBuffers() = [this](uint64_t size) -> void* {
      buffers_.push_back(std::make_unique<GpuBytes>(size));
      return buffers_.back()->data();
    };
  }

  void Execute(std::vector<TRITONBACKEND_Request*> requests, int gpu = 0) {
    if (runner_ == nullptr) {
      auto session = std::make_unique<EchoSession>(gpu);
      session_ = session.get();
      runner_ = std::make_unique<Runner>(plan_, std::move(session));
    }
    runner_->Execute(&instance_, requests.data(), static_cast<uint32_t>(requests.size()));
  }

  std::vector<std::unique_ptr<GpuBytes>> buffers_;
  TRITONBACKEND_Backend backend_;
  TRITONBACKEND_Model model_;
  TRITONBACKEND_ModelInstance instance_;
  std::shared_ptr<RunPlan> plan_;
  std::unique_ptr<Runner> runner_;
  EchoSession* session_ = nullptr;
};

TEST_F(GpuRunnerTest, AnInputOnTheGpuIsNotCopied) {
  TRITONBACKEND_Request a;
  AskOnGpu(&a, {1, 2, 3});
  Execute({&a});
  EXPECT_EQ(session_->seen[0].data, buffers_[0]->data());
  EXPECT_EQ(session_->seen[0].gpu, 0);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(session_->wanted_on_gpu, ElementsAre(false));
}

TEST_F(GpuRunnerTest, TensorsInHostMemoryStayThere) {
  TRITONBACKEND_Request a, b;
  Ask(&a, {1, 2});
  Ask(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_EQ(session_->seen[0].gpu, -1);
  EXPECT_THAT(b.Answer().outputs.at("y").As<float>(), ElementsAre(3, 4));
}

TEST_F(GpuRunnerTest, RequestsInDifferentMemoryArePutTogetherOnTheGpu) {
  TRITONBACKEND_Request a, b, c;
  AskOnGpu(&a, {1, 2});
  Ask(&b, {3, 4});
  AskOnGpu(&c, {5, 6});
  Execute({&a, &b, &c});
  EXPECT_EQ(session_->seen[0].gpu, 0);
  EXPECT_THAT(session_->seen[0].shape, ElementsAre(3, 2));
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
  EXPECT_THAT(b.Answer().outputs.at("y").As<float>(), ElementsAre(3, 4));
  EXPECT_THAT(c.Answer().outputs.at("y").As<float>(), ElementsAre(5, 6));
}

TEST_F(GpuRunnerTest, AMisalignedInputIsCopied) {
  TRITONBACKEND_Request a;
  AskOnGpu(&a, {1, 2, 3});
  buffers_.push_back(std::make_unique<GpuBytes>(Floats{0, 7, 8, 9}.data(), 16));
  a.inputs[0].gpu_pieces = {buffers_.back()->data() + 4};
  Execute({&a});
  EXPECT_NE(session_->seen[0].data, buffers_.back()->data() + 4);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(7, 8, 9));
}

TEST_F(GpuRunnerTest, OutputsGoToTheMemoryThatTheirClientsTake) {
  TakeOutputsOnGpu();
  TRITONBACKEND_Request a, b;
  AskOnGpu(&a, {1, 2});
  Ask(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_THAT(session_->wanted_on_gpu, ElementsAre(true));
  EXPECT_THAT(OnGpu(a.Answer().outputs.at("y").gpu_data, 2), ElementsAre(1, 2));
  EXPECT_THAT(OnGpu(b.Answer().outputs.at("y").gpu_data, 2), ElementsAre(3, 4));
}

TEST_F(GpuRunnerTest, APlaceOnTheGpuIsWrittenByTheSession) {
  TakeOutputsOnGpu();
  plan_->outputs[0].dims = {{PlannedDim::Kind::kBatch}, {PlannedDim::Kind::kFixed, 2}};
  TRITONBACKEND_Request a;
  Ask(&a, {1, 2});
  Execute({&a});
  EXPECT_THAT(OnGpu(a.Answer().outputs.at("y").gpu_data, 2), ElementsAre(1, 2));
}

TEST_F(GpuRunnerTest, AStateStaysOnTheGpu) {
  TakeOutputsOnGpu();
  plan_->outputs[0].state = true;
  TRITONBACKEND_Request a, b;
  a.has_states = b.has_states = true;
  AskOnGpu(&a, {1, 2});
  AskOnGpu(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_THAT(OnGpu(b.State("y").gpu_data, 2), ElementsAre(3, 4));
  EXPECT_THAT(OnGpu(b.Answer().outputs.at("y").gpu_data, 2), ElementsAre(3, 4));
}

TEST_F(GpuRunnerTest, ASessionOnTheCpuGetsHostMemory) {
  TRITONBACKEND_Request a, b;
  AskOnGpu(&a, {1, 2});
  Ask(&b, {3, 4});
  Execute({&a, &b}, -1);
  EXPECT_EQ(session_->seen[0].gpu, -1);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
}

TEST_F(GpuRunnerTest, ValuesThatTheSessionReadsAreInHostMemory) {
  plan_->inputs[0].in_host_memory = true;
  TRITONBACKEND_Request a;
  AskOnGpu(&a, {1, 2});
  Execute({&a});
  EXPECT_EQ(session_->seen[0].gpu, -1);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
}

TEST_F(GpuRunnerTest, TextsAreReadInHostMemory) {
  plan_->inputs[0].data_type = TRITONSERVER_TYPE_BYTES;
  plan_->outputs[0].data_type = TRITONSERVER_TYPE_BYTES;
  const std::string bytes = BytesTensor({"one", "", "three"});
  const GpuBytes on_gpu(bytes.data(), bytes.size());
  TRITONBACKEND_Request a;
  a.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 3}, bytes).gpu_pieces = {on_gpu.data()};
  a.outputs = {"y"};
  Execute({&a});
  EXPECT_THAT(BytesElements(a.Answer().outputs.at("y").data), ElementsAre("one", "", "three"));
}

TEST_F(GpuRunnerTest, AFailedCopyFailsTheRequestAndNothingElse) {
  TRITONBACKEND_Request good;
  AskOnGpu(&good, {1, 2});
  Execute({&good});
  const int before = Fake().allocations(0);
  for (const char* failure :
       {"cuMemcpyAsync=1", "cuStreamSynchronize=1", "cuMemAlloc_v2=2", "cuCtxPushCurrent_v2=1"}) {
    TRITONBACKEND_Request a, b;
    AskOnGpu(&a, {1, 2});
    AskOnGpu(&b, {3, 4});
    Fake().fail(failure);
    Execute({&a, &b});
    Fake().fail("");
    // The memory of an earlier batch may still serve this one.
    EXPECT_TRUE(a.Answer().failed || std::string(failure) == "cuMemAlloc_v2=2") << failure;
    if (a.Answer().failed) {
      EXPECT_THAT(a.Answer().message, HasSubstr("cannot ")) << failure;
    }
    buffers_.resize(1);
  }
  EXPECT_LE(Fake().allocations(0), before + 1);
  TRITONBACKEND_Request after;
  AskOnGpu(&after, {5, 6});
  Execute({&after});
  EXPECT_THAT(after.Answer().outputs.at("y").As<float>(), ElementsAre(5, 6));
}

TEST_F(GpuRunnerTest, RequestsInHostMemoryArePutTogetherInPinnedMemory) {
  std::vector<char> pinned(256);
  PinnedBuffers() = [&](uint64_t size) -> void* {
    return size <= pinned.size() ? pinned.data() : nullptr;
  };
  auto session = std::make_unique<EchoSession>(0);
  session_ = session.get();
  runner_ = std::make_unique<Runner>(plan_, std::move(session), &instance_);
  TRITONBACKEND_Request a, b, c;
  Ask(&a, {1, 2});
  Ask(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_EQ(session_->seen[0].data, pinned.data());
  EXPECT_THAT(b.Answer().outputs.at("y").As<float>(), ElementsAre(3, 4));
  Ask(&c, {5, 6});
  Execute({&c});
  EXPECT_EQ(session_->seen[0].data, c.inputs[0].pieces[0].data());
  // The server has too little pinned memory for these.
  TRITONBACKEND_Request d, e;
  Ask(&d, Floats(64, 7));
  Ask(&e, Floats(64, 8));
  Execute({&d, &e});
  EXPECT_EQ(e.Answer().outputs.at("y").As<float>(), Floats(64, 8));
  PinnedBuffers() = nullptr;
}

TEST_F(GpuRunnerTest, AnInstanceWhoseGpuHasFailedSaysSo) {
  TRITONBACKEND_Request a, b;
  AskOnGpu(&a, {1, 2});
  AskOnGpu(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_EQ(runner_->CheckReady().message(), "");
  TRITONBACKEND_Request c, d;
  AskOnGpu(&c, {1, 2});
  AskOnGpu(&d, {3, 4});
  Fake().fail("cuMemcpyAsync:1!=700");
  Execute({&c, &d});
  EXPECT_TRUE(c.Answer().failed);
  EXPECT_THAT(runner_->CheckReady().message(),
              AllOf(HasSubstr("model 'm': GPU 0 has failed: cannot use it: "),
                    HasSubstr("; restart the server")));
}

TEST_F(GpuRunnerTest, TheMemoryOfTheInstanceIsFreed) {
  {
    TRITONBACKEND_Request a, b;
    AskOnGpu(&a, {1, 2});
    AskOnGpu(&b, {3, 4});
    Execute({&a, &b});
  }
  runner_.reset();
  buffers_.clear();
  EXPECT_EQ(Fake().allocations(0), 0);
}

}  // namespace
}  // namespace nereid::framework
