// SPDX-License-Identifier: Apache-2.0
// RegionSink with places in GPU memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/byte_budget.h"
#include "base/testing/failing_allocation.h"
#include "memory/gpu/testing/gpu_bytes.h"
#include "memory/shared/cuda_regions.h"
#include "memory/shared/testing/client_gpu_memory.h"
#include "request/binding.h"
#include "request/inference_request.h"
#include "request/region_sink.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::request {
namespace {

using memory::MemoryType;
using memory::ReadGpu;

const memory::FakeGpuSetting same_process("NEREID_FAKE_GPU_SAME_PROCESS_IPC", "1");
const memory::FakeGpuSetting two_gpus("NEREID_FAKE_GPUS", "2");

/// A request whose output "S" goes to bytes [8, 8 + 16) of a region on GPU 1, and whose other
/// outputs do not.
class RegionSinkGpuTest : public ::testing::Test {
 protected:
  RegionSinkGpuTest() {
    EXPECT_TRUE(regions_.Register({"r", memory_.handle(), 1, 4096}).ok());
    memory::WriteGpu(memory_.data(), std::string(64, '.'));
    auto mapping = regions_.Find("r");
    std::vector<OutputPlace> places = {{"S", mapping->data() + 8, 16, MemoryType::kGpu, 1}};
    RegionSink::Regions used;
    used.cuda = {std::move(mapping)};
    used.copying = &copying_;
    request_.SetSink(std::make_shared<RegionSink>(recorder_, std::move(used), std::move(places)));
    BindRequest(request_, MakeModel("name: \"m\" backend: \"b\""));
    response_ = std::move(request_.response_factory()->NewResponse()).value();
  }
  ~RegionSinkGpuTest() override {
    request_.response_factory()->Disarm();
    response_.reset();
    recorder_->Clear();
  }

  Output* Allocate(const std::string& name, size_t size, MemoryType preferred) {
    Output* const output = *response_->AddOutput(name, tensor::DataType::kUint8, {int64_t(size)});
    int64_t id = preferred == MemoryType::kGpu ? 1 : 0;
    const base::Status status = response_->AllocateOutput(output, size, &preferred, &id);
    EXPECT_TRUE(status.ok()) << status.message();
    return output;
  }
  void Send() { request_.response_factory()->Send(std::move(response_), true); }
  std::string Region(size_t size) const { return ReadGpu(memory_.data(), size); }

  const memory::ClientGpuMemory memory_{1, 4096};
  memory::CudaRegions regions_;
  base::BlockingWorkers copying_{"copies", 1};
  std::shared_ptr<RecordingSink> recorder_ = std::make_shared<RecordingSink>();
  InferenceRequest request_;
  std::unique_ptr<InferenceResponse> response_;
};

TEST_F(RegionSinkGpuTest, ABackendOnTheGpuWritesToThePlace) {
  Output* const output = Allocate("S", 4, MemoryType::kGpu);
  EXPECT_EQ(output->memory_type, MemoryType::kGpu);
  EXPECT_EQ(output->memory_type_id, 1);
  EXPECT_TRUE(output->in_shared_memory);
  memory::WriteGpu(output->data, "text");
  Send();
  EXPECT_TRUE(recorder_->errors()[0].ok());
  EXPECT_EQ(Region(14), "........text..");
}

TEST_F(RegionSinkGpuTest, WhatABackendWroteToTheHostIsCopied) {
  for (const MemoryType preferred : {MemoryType::kCpu, MemoryType::kCpuPinned}) {
    Output* const output = Allocate(preferred == MemoryType::kCpu ? "S" : "T", 4, preferred);
    EXPECT_EQ(output->memory_type, MemoryType::kCpu);
    std::copy_n("text", 4, output->data);
  }
  Send();
  ASSERT_TRUE(recorder_->errors()[0].ok()) << recorder_->errors()[0].message();
  EXPECT_EQ(Region(14), "........text..");
  const Output& output = *recorder_->responses()[0]->outputs()[0];
  EXPECT_EQ(output.MessageBytes(), "") << "the message does not have the bytes";
  EXPECT_EQ(output.memory_type, MemoryType::kGpu);
  EXPECT_EQ(recorder_->responses()[0]->outputs()[1]->MessageBytes(), "text");
}

TEST_F(RegionSinkGpuTest, LentHostBytesAreCopied) {
  std::string host = "host";
  Output* const output = *response_->AddOutput("S", tensor::DataType::kUint8, {4});
  ASSERT_TRUE(response_->LendOutput(output, {host.data(), 4}).ok());
  Send();
  ASSERT_TRUE(recorder_->errors()[0].ok()) << recorder_->errors()[0].message();
  EXPECT_EQ(Region(14), "........host..");
}

TEST_F(RegionSinkGpuTest, LentBytesOfAnotherGpuAreCopied) {
  const memory::DeviceBuffer device = memory::OnGpu(0, "gpu0");
  Output* const output = *response_->AddOutput("S", tensor::DataType::kUint8, {4});
  ASSERT_TRUE(response_->LendOutput(output, {device.data(), 4, nullptr, MemoryType::kGpu, 0}).ok());
  Send();
  ASSERT_TRUE(recorder_->errors()[0].ok()) << recorder_->errors()[0].message();
  EXPECT_EQ(Region(14), "........gpu0..");
}

TEST_F(RegionSinkGpuTest, OutputsThatAreNotInTheRegionGoToTheMessage) {
  const memory::DeviceBuffer device = memory::OnGpu(0, "gpu0");
  Output* const output = *response_->AddOutput("T", tensor::DataType::kUint8, {4});
  ASSERT_TRUE(response_->LendOutput(output, {device.data(), 4, nullptr, MemoryType::kGpu, 0}).ok());
  EXPECT_EQ(output->MessageBytes(), "gpu0");
}

TEST_F(RegionSinkGpuTest, ATooLargeOutputIsRefused) {
  Output* const output = *response_->AddOutput("S", tensor::DataType::kUint8, {17});
  for (MemoryType type : {MemoryType::kGpu, MemoryType::kCpu}) {
    int64_t id = 0;
    EXPECT_EQ(response_->AllocateOutput(output, 17, &type, &id).message(),
              "shared memory size specified with the request for output 'S' (16 bytes) should be "
              "at least 17 bytes to hold the results");
  }
  std::string bytes(17, 'x');
  EXPECT_FALSE(response_->LendOutput(output, {bytes.data(), 17}).ok());
}

TEST_F(RegionSinkGpuTest, TheSinkTellsWhereAnOutputWillBe) {
  const auto asked = [&](const char* name, MemoryType type) {
    int64_t id = 0;
    EXPECT_TRUE(request_.sink()->QueryOutput(name, nullptr, &type, &id).ok());
    EXPECT_EQ(id, type == MemoryType::kGpu ? 1 : 0);
    return type;
  };
  EXPECT_EQ(asked("S", MemoryType::kGpu), MemoryType::kGpu);
  EXPECT_EQ(asked("S", MemoryType::kCpu), MemoryType::kCpu);
  EXPECT_EQ(asked("T", MemoryType::kGpu), MemoryType::kCpu);
}

TEST_F(RegionSinkGpuTest, ACopyThatFailsIsTheAnswer) {
  std::copy_n("text", 4, Allocate("S", 4, MemoryType::kCpu)->data);
  const memory::ScopedGpuFailure failure("cuMemcpyAsync=719");
  Send();
  EXPECT_EQ(recorder_->errors()[0].code(), base::StatusCode::kInternal);
  EXPECT_NE(recorder_->errors()[0].message().find("output 'S': cannot copy 4 bytes on GPU 1"),
            std::string::npos)
      << recorder_->errors()[0].message();
}

TEST_F(RegionSinkGpuTest, ARegionStaysOpenUntilTheResponseIsGone) {
  const long before = fake_gpu::Control::Get().calls("cuIpcCloseMemHandle");
  regions_.Unregister("r");
  std::copy_n("text", 4, Allocate("S", 4, MemoryType::kCpu)->data);
  Send();
  EXPECT_EQ(Region(14), "........text..");
  EXPECT_EQ(fake_gpu::Control::Get().calls("cuIpcCloseMemHandle"), before);
}

TEST_F(RegionSinkGpuTest, AnEventLoopDoesNotWaitForTheCopy) {
  std::copy_n("text", 4, Allocate("S", 4, MemoryType::kCpu)->data);
  std::thread loop([&] {
    base::ForbidBlocking();
    Send();
    request_.sink()->RequestReleased(std::make_unique<InferenceRequest>());
  });
  loop.join();
  recorder_->WaitUntilDone();
  EXPECT_TRUE(recorder_->errors()[0].ok());
  EXPECT_EQ(Region(14), "........text..");
}

// Whatever allocation fails, the client gets one response.
TEST_F(RegionSinkGpuTest, WhereMemoryIsShortOnAnEventLoopNoResponseIsLost) {
  using base::testing::FailingAllocation;
  bool failed = true;
  for (uint64_t failing = 0; failed; ++failing) {
    ASSERT_LT(failing, 1'000u);
    auto request = std::make_unique<InferenceRequest>();
    const auto recorder = std::make_shared<RecordingSink>();
    auto mapping = regions_.Find("r");
    std::vector<OutputPlace> places = {{"S", mapping->data() + 8, 16, MemoryType::kGpu, 1}};
    RegionSink::Regions used;
    used.cuda = {std::move(mapping)};
    used.copying = &copying_;
    request->SetSink(std::make_shared<RegionSink>(recorder, std::move(used), std::move(places)));
    BindRequest(*request, MakeModel("name: \"m\" backend: \"b\""));
    const std::shared_ptr<ResponseFactory> factory = request->response_factory();
    auto response = factory->NewResponse().value();
    Output* const output = *response->AddOutput("S", tensor::DataType::kUint8, {4});
    MemoryType type = MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response->AllocateOutput(output, 4, &type, &id).ok());
    std::thread loop([&] {
      base::ForbidBlocking();
      const FailingAllocation failure(failing, FailingAllocation::Extent::kOne);
      factory->Send(std::move(response), true);
      failed = failure.has_failed();
    });
    loop.join();
    request->sink()->RequestReleased(std::make_unique<InferenceRequest>());
    recorder->WaitUntilDone();
    EXPECT_EQ(recorder->errors().size(), 1u) << "allocation " << failing;
    EXPECT_EQ(recorder->finals(), 1u);
    recorder->Clear();
  }
}

}  // namespace
}  // namespace nereid::request
