// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "memory/gpu/gpu_pools.h"
#include "memory/gpu/testing/gpu_bytes.h"
#include "request/host_inputs.h"

namespace nereid::request {
namespace {

using memory::MemoryType;

class HostInputsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(memory::HasFakeGpus()); }

  /// A request whose input is "host", then "GPU" in GPU memory.
  std::unique_ptr<InferenceRequest> NewRequest() {
    auto request = std::make_unique<InferenceRequest>();
    request->id = "7";
    Input* const input = *request->AddInput("IN", tensor::DataType::kUint8, {7});
    input->Append("host", 4);
    input->Append(device_.data(), 3, MemoryType::kGpu, 0);
    request->has_gpu_memory = true;
    return request;
  }
  static std::string Content(const InferenceRequest& request) {
    std::string content;
    for (const InputPiece& piece : request.inputs()[0].pieces) {
      EXPECT_EQ(piece.memory_type, MemoryType::kCpu);
      content.append(piece.data, piece.size);
    }
    return content;
  }

  const memory::DeviceBuffer device_ = memory::OnGpu(0, "GPU");
};

TEST_F(HostInputsTest, TheBackendSeesHostMemoryAndTheCallerItsOwn) {
  std::vector<std::unique_ptr<InferenceRequest>> requests;
  requests.push_back(NewRequest());
  requests.push_back(NewRequest());
  requests.push_back(std::make_unique<InferenceRequest>());
  requests[0]->inputs()[0].attributes.push_back(std::make_unique<memory::BufferAttributes>());
  const long before = fake_gpu::Control::Get().calls("cuStreamSynchronize");
  ASSERT_TRUE(MoveInputsToHost(requests).ok());
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuStreamSynchronize"), before + 1);
  EXPECT_EQ(Content(*requests[0]), "hostGPU");
  EXPECT_EQ(Content(*requests[1]), "hostGPU");
  EXPECT_TRUE(requests[0]->inputs()[0].attributes.empty());
  requests[0]->Unbind();
  const Input& input = requests[0]->inputs()[0];
  ASSERT_EQ(input.pieces.size(), 2u);
  EXPECT_EQ(input.pieces[1].data, device_.data());
  EXPECT_EQ(input.pieces[1].memory_type, MemoryType::kGpu);
  EXPECT_EQ(input.attributes.size(), 1u);
  ASSERT_TRUE(MoveInputsToHost(requests).ok()) << "once more";
  EXPECT_EQ(Content(*requests[0]), "hostGPU");
}

TEST_F(HostInputsTest, InputsThatAreRemovedMeanwhile) {
  std::vector<std::unique_ptr<InferenceRequest>> requests;
  requests.push_back(NewRequest());
  Input* const state = requests[0]->inputs().AddByServer("S", tensor::DataType::kUint8, {3});
  state->Append(device_.data(), 3, MemoryType::kGpu, 0);
  ASSERT_TRUE(MoveInputsToHost(requests).ok());
  requests[0]->inputs().RemoveAddedByServer();
  requests[0]->Unbind();
  EXPECT_EQ(requests[0]->inputs()[0].pieces[1].data, device_.data());
}

TEST_F(HostInputsTest, StringsAndRawInputsOnly) {
  for (const bool is_raw : {false, true}) {
    InferenceRequest request;
    Input* const strings =
        is_raw ? *request.AddRawInput("S") : *request.AddInput("S", tensor::DataType::kBytes, {1});
    strings->Append(device_.data(), 3, MemoryType::kGpu, 0);
    if (!is_raw) {
      Input* const numbers = *request.AddInput("N", tensor::DataType::kUint8, {3});
      numbers->Append(device_.data(), 3, MemoryType::kGpu, 0);
    }
    request.has_gpu_memory = true;
    ASSERT_TRUE(MoveStringsToHost(request).ok());
    EXPECT_EQ(Content(request), "GPU");
    if (!is_raw) {
      EXPECT_EQ(request.inputs()[1].pieces[0].memory_type, MemoryType::kGpu);
    }
    request.Unbind();
    EXPECT_EQ(request.inputs()[0].pieces[0].data, device_.data());
  }
}

TEST_F(HostInputsTest, ACopyThatFailsNamesTheInput) {
  std::vector<std::unique_ptr<InferenceRequest>> requests;
  requests.push_back(NewRequest());
  const memory::ScopedGpuFailure failure("cuMemcpyAsync=1");
  const base::Status status = MoveInputsToHost(requests);
  EXPECT_NE(status.message().find("input 'IN': cannot copy 3 bytes on GPU 0"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace nereid::request
