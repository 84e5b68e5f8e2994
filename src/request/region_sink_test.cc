// SPDX-License-Identifier: Apache-2.0
#include "request/region_sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "memory/shared/shared_regions.h"
#include "memory/shared/testing/temporary_object.h"
#include "request/binding.h"
#include "request/inference_request.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::request {
namespace {

constexpr uint64_t kPage = 4096;

/// A request whose output "S" goes to bytes [8, 8 + 16) of a region, and whose other outputs do
/// not.
class RegionSinkTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(memory::InstallBusGuard().ok()); }

  RegionSinkTest() {
    EXPECT_TRUE(regions_.Register({"r", object_.key(), 0, kPage}).ok());
    auto mapping = std::move(regions_.Use("r")).value();
    std::vector<OutputPlace> places = {{"S", mapping->data() + 8, 16}};
    mapped_ = mapping->data();
    request_.SetSink(std::make_shared<RegionSink>(
        recorder_, RegionSink::Regions{{std::move(mapping)}, {}, nullptr}, std::move(places)));
    BindRequest(request_, MakeModel("name: \"m\" backend: \"b\""));
    response_ = std::move(request_.response_factory()->NewResponse()).value();
  }
  ~RegionSinkTest() override {
    request_.response_factory()->Disarm();
    response_.reset();
    recorder_->Clear();
  }

  base::Status Allocate(const std::string& name, size_t size, Output** output) {
    *output = *response_->AddOutput(name, tensor::DataType::kUint8, {int64_t(size)});
    memory::MemoryType type = memory::MemoryType::kGpu;
    int64_t id = 3;
    const base::Status status = response_->AllocateOutput(*output, size, &type, &id);
    if (status.ok()) {
      EXPECT_EQ(type, memory::MemoryType::kCpu);
      EXPECT_EQ(id, 0);
    }
    return status;
  }

  memory::TemporaryObject object_{kPage};
  memory::SharedRegions regions_;
  std::shared_ptr<RecordingSink> recorder_ = std::make_shared<RecordingSink>();
  volatile char* mapped_ = nullptr;
  InferenceRequest request_;
  std::unique_ptr<InferenceResponse> response_;
};

TEST_F(RegionSinkTest, OutputsGoToTheirPlaces) {
  Output *shared = nullptr, *other = nullptr;
  ASSERT_TRUE(Allocate("S", 16, &shared).ok());
  ASSERT_TRUE(Allocate("T", 4, &other).ok());
  EXPECT_EQ(shared->data, mapped_ + 8);
  EXPECT_TRUE(shared->in_shared_memory);
  EXPECT_EQ(shared->MessageBytes(), "");
  EXPECT_FALSE(other->in_shared_memory);
  std::copy_n("0123456789abcdef", 16, shared->data);
  std::copy_n("text", 4, other->data);
  EXPECT_EQ(other->MessageBytes(), "text");
  request_.response_factory()->Send(std::move(response_), true);
  EXPECT_TRUE(recorder_->errors()[0].ok());
  EXPECT_EQ(object_.Read(8, 16), "0123456789abcdef");
}

TEST_F(RegionSinkTest, ATooLargeOutputIsRefused) {
  Output* shared = nullptr;
  const base::Status status = Allocate("S", 17, &shared);
  EXPECT_EQ(status.code(), base::StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "shared memory size specified with the request for output 'S' (16 bytes) should be at "
            "least 17 bytes to hold the results");
}

TEST_F(RegionSinkTest, ALentOutputIsCopied) {
  std::string bytes = "lent";
  Output* const shared = *response_->AddOutput("S", tensor::DataType::kUint8, {4});
  ASSERT_TRUE(response_->LendOutput(shared, {bytes.data(), 4}).ok());
  EXPECT_EQ(object_.Read(8, 4), "lent");
  Output* const other = *response_->AddOutput("T", tensor::DataType::kUint8, {4});
  ASSERT_TRUE(response_->LendOutput(other, {bytes.data(), 4}).ok());
  EXPECT_EQ(other->data, bytes.data());
  Output* const large = *response_->AddOutput("U", tensor::DataType::kUint8, {4});
  large->name = "S";
  EXPECT_FALSE(response_->LendOutput(large, {bytes.data(), 17}).ok());
}

TEST_F(RegionSinkTest, TheRegionStaysUntilTheResponseIsGone) {
  Output* shared = nullptr;
  ASSERT_TRUE(Allocate("S", 1, &shared).ok());
  regions_.Unregister("r");
  object_.Unlink();
  *shared->data = 'x';
  request_.response_factory()->Send(std::move(response_), true);
  EXPECT_EQ(object_.Read(8, 1), "x");
}

TEST_F(RegionSinkTest, AResponseMadeWithABrokenRegionIsAnError) {
  object_.Resize(0);
  EXPECT_EQ(mapped_[0], 0);  // what the model reads
  request_.response_factory()->Send(std::move(response_), true);
  ASSERT_EQ(recorder_->errors().size(), 1u);
  EXPECT_EQ(recorder_->errors()[0].code(), base::StatusCode::kInvalidArgument);
  EXPECT_NE(recorder_->errors()[0].message().find("became smaller"), std::string::npos);
}

}  // namespace
}  // namespace nereid::request
