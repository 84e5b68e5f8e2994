// SPDX-License-Identifier: Apache-2.0
// GPU memory through the C functions of backends.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/error.h"
#include "abi/handle.h"
#include "backend/backend_instance.h"
#include "backend/backend_library.h"
#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"
#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/make_states.h"
#include "request/testing/recording_sink.h"

namespace nereid::backend {
namespace {

using base::StatusCode;
using memory::GpuPools;
using memory::MemoryType;
using memory::ReadGpu;

/// Fails the test if the function returned an error.
void Ok(TRITONSERVER_Error* error) {
  const base::Status status = abi::TakeStatus(error);
  EXPECT_TRUE(status.ok()) << status.message();
}

class MemoryAllocatorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(memory::HasFakeGpus()); }
  void TearDown() override {
    GpuPools::Get().Trim();
    GpuPools::Get().Configure({});
  }
  MemoryAllocator allocator_;
};

TEST_F(MemoryAllocatorTest, EachKindOfMemory) {
  for (const TRITONSERVER_MemoryType type :
       {TRITONSERVER_MEMORY_CPU, TRITONSERVER_MEMORY_CPU_PINNED, TRITONSERVER_MEMORY_GPU}) {
    void* buffer = nullptr;
    ASSERT_TRUE(allocator_.Allocate(&buffer, type, 0, 100).ok());
    if (type == TRITONSERVER_MEMORY_GPU) {
      memory::WriteGpu(buffer, "text");
      EXPECT_EQ(GpuPools::Get().GpuUses().at(0).used_bytes, 256u);
    } else {
      std::memset(buffer, 1, 100);
    }
    EXPECT_TRUE(allocator_.Free(buffer, type, 0).ok());
  }
  EXPECT_EQ(GpuPools::Get().GpuUses().at(0).used_bytes, 0u);
  EXPECT_EQ(GpuPools::Get().PinnedUse().used_bytes, 0u);
}

TEST_F(MemoryAllocatorTest, WhatCannotBeHad) {
  void* buffer = nullptr;
  EXPECT_EQ(allocator_.Allocate(&buffer, TRITONSERVER_MEMORY_GPU, 9, 1).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(allocator_.Allocate(&buffer, TRITONSERVER_MEMORY_GPU, 0, size_t{1} << 40).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(allocator_.Allocate(&buffer, TRITONSERVER_MEMORY_CPU_PINNED, 0, size_t{1} << 40).code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(allocator_.Allocate(&buffer, static_cast<TRITONSERVER_MemoryType>(7), 0, 1).code(),
            StatusCode::kUnsupported);
  const memory::ScopedGpuFailure failure("cuMemAlloc_v2=2");
  EXPECT_EQ(allocator_.Allocate(&buffer, TRITONSERVER_MEMORY_GPU, 0, 1).code(),
            StatusCode::kUnavailable);
}

TEST_F(MemoryAllocatorTest, MemoryOfAnotherKindIsRefused) {
  void* buffer = nullptr;
  ASSERT_TRUE(allocator_.Allocate(&buffer, TRITONSERVER_MEMORY_GPU, 0, 1).ok());
  for (const auto& [type, id] :
       {std::pair{TRITONSERVER_MEMORY_GPU, 1}, std::pair{TRITONSERVER_MEMORY_CPU_PINNED, 0}}) {
    EXPECT_EQ(allocator_.Free(buffer, type, id).message(),
              "the memory was not allocated with this type");
  }
  EXPECT_TRUE(allocator_.Free(buffer, TRITONSERVER_MEMORY_GPU, 0).ok());
  EXPECT_FALSE(allocator_.Free(buffer, TRITONSERVER_MEMORY_GPU, 0).ok()) << "is freed twice";
}

/// What the backend does with its only request.
using Script = std::function<void(TRITONBACKEND_Request*)>;

TRITONSERVER_Error* Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            const uint32_t) {
  (*static_cast<Script*>(BackendInstance::From(instance)->state))(requests[0]);
  return nullptr;
}

class NoObserver final : public StatisticsObserver {
 public:
  void OnRequest(const request::InferenceRequest&, bool, const ExecutionTimes&) override {}
  void OnBatch(uint64_t, const ExecutionTimes&) override {}
  void OnResponse(const ResponseTimes&) override {}
  void OnMemoryUsage(const std::vector<memory::BufferAttributes>&) override {}
};

/// A request with the input "GPU" in GPU memory, for an instance of some kind.
class GpuInputTest : public ::testing::Test {
 protected:
  ~GpuInputTest() override { sink_->Clear(); }

  void Run(config::InstanceKind kind, Script script) {
    BackendEntryPoints entry;
    entry.instance_execute = Execute;
    const auto backend =
        Backend::Create("fake", BackendLibrary::FromEntryPoints("/built-in/fake", entry), "{}")
            .value();
    BackendModel::Description of_model;
    of_model.name = "m";
    BackendModel model(backend, std::move(of_model), "{}");
    BackendInstance::Description description;
    description.name = "i";
    description.kind = kind;
    NoObserver observer;
    BackendInstance instance(model, std::move(description), observer);
    instance.state = &script;
    auto request = std::make_unique<request::InferenceRequest>();
    request->AddInput("IN", tensor::DataType::kUint8, {3})
        .value()
        ->Append(device_.data(), 3, MemoryType::kGpu, 0);
    request->has_gpu_memory = true;
    request->SetSink(sink_);
    request::BindRequest(*request, request::MakeModel("name: \"m\" backend: \"b\""));
    std::vector<std::unique_ptr<request::InferenceRequest>> requests;
    requests.push_back(std::move(request));
    instance.Execute(std::move(requests));
  }
  /// Reads the input as a backend does, then ends the request.
  void Read(TRITONBACKEND_Request* request) {
    TRITONBACKEND_Input* input = nullptr;
    Ok(TRITONBACKEND_RequestInput(request, "IN", &input));
    const void* buffer = nullptr;
    uint64_t size = 0;
    int64_t id = 0;
    Ok(TRITONBACKEND_InputBuffer(input, 0, &buffer, &size, &type_, &id));
    content_ = type_ == TRITONSERVER_MEMORY_GPU
                   ? ReadGpu(buffer, size)
                   : std::string(static_cast<const char*>(buffer), size);
    Ok(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
  }

  const memory::DeviceBuffer device_ = memory::OnGpu(0, "GPU");
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  TRITONSERVER_MemoryType type_ = TRITONSERVER_MEMORY_CPU_PINNED;
  std::string content_;
};

TEST_F(GpuInputTest, AnInstanceOnTheCpuReadsHostMemory) {
  Run(config::InstanceKind::kCpu, [this](TRITONBACKEND_Request* request) { Read(request); });
  EXPECT_EQ(type_, TRITONSERVER_MEMORY_CPU);
  EXPECT_EQ(content_, "GPU");
  ASSERT_EQ(sink_->released(), 1u);
  const auto& input = sink_->released_requests()[0]->inputs()[0];
  EXPECT_EQ(input.pieces[0].data, device_.data()) << "the sender gets its request as it was";
}

TEST_F(GpuInputTest, OtherInstancesReadGpuMemory) {
  for (const auto kind : {config::InstanceKind::kGpu, config::InstanceKind::kModel}) {
    Run(kind, [this](TRITONBACKEND_Request* request) { Read(request); });
    EXPECT_EQ(type_, TRITONSERVER_MEMORY_GPU);
    EXPECT_EQ(content_, "GPU");
  }
}

TEST_F(GpuInputTest, AnInputThatCannotBeCopiedRefusesTheRequest) {
  const memory::ScopedGpuFailure failure("cuMemcpyAsync=1");
  Run(config::InstanceKind::kCpu, [](TRITONBACKEND_Request*) { FAIL() << "was executed"; });
  ASSERT_EQ(sink_->errors().size(), 1u);
  EXPECT_NE(sink_->errors()[0].message().find("input 'IN': cannot copy 3 bytes on GPU 0"),
            std::string::npos)
      << sink_->errors()[0].message();
  EXPECT_EQ(sink_->released(), 1u);
}

TEST(GpuStateTest, ABackendGetsTheMemoryThatItPrefers) {
  const auto inputs = request::MakeSequenceInputs(request::StateText("INT32", "[ 2 ]"));
  request::InferenceRequest request;
  request.states = inputs->NewStates();
  ASSERT_TRUE(request.states->Reset().ok());
  const int64_t shape[] = {1, 2};
  for (const TRITONSERVER_MemoryType preferred :
       {TRITONSERVER_MEMORY_GPU, TRITONSERVER_MEMORY_CPU_PINNED, TRITONSERVER_MEMORY_CPU}) {
    TRITONBACKEND_State* state = nullptr;
    Ok(TRITONBACKEND_StateNew(&state, abi::Wrap<TRITONBACKEND_Request>(&request), "S_OUT",
                              TRITONSERVER_TYPE_INT32, shape, 2));
    void* buffer = nullptr;
    TRITONSERVER_MemoryType type = preferred;
    int64_t id = 0;
    Ok(TRITONBACKEND_StateBuffer(state, &buffer, 8, &type, &id));
    EXPECT_EQ(type, preferred == TRITONSERVER_MEMORY_GPU ? TRITONSERVER_MEMORY_GPU
                                                         : TRITONSERVER_MEMORY_CPU);
    TRITONSERVER_BufferAttributes* attributes = nullptr;
    Ok(TRITONBACKEND_StateBufferAttributes(state, &attributes));
    EXPECT_EQ(abi::Unwrap(attributes).memory_type == MemoryType::kGpu,
              preferred == TRITONSERVER_MEMORY_GPU);
    request.states->Discard();
  }
}

}  // namespace
}  // namespace nereid::backend
