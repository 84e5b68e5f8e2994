// SPDX-License-Identifier: Apache-2.0
#include "api/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "memory/shared/testing/temporary_object.h"
#include "request/discarding_sink.h"

namespace nereid::api {
namespace {

using base::Status;
using base::StatusCode;
using request::InferenceRequest;
using request::SharedTensors;

constexpr uint64_t kPage = 4096;

void Expect(const Status& status, StatusCode code, const std::string& text) {
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), text);
}

TEST(SharedMemoryTest, IsOffUntilItIsAllowed) {
  SharedMemory memory;
  const char* const off =
      "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to "
      "enable.";
  Expect(memory.RegisterSystem({"r", "/k", 0, 1}), StatusCode::kUnsupported, off);
  Expect(memory.RegisterCuda({"r", "", 0, 1}), StatusCode::kUnsupported, off);
  for (const auto kind : {SharedMemoryKind::kSystem, SharedMemoryKind::kCuda}) {
    Expect(memory.Unregister(kind, ""), StatusCode::kUnsupported, off);
    Expect(memory.Unregister(kind, "r"), StatusCode::kUnsupported, off);
  }
  EXPECT_TRUE(memory.ListSystem("")->empty());
  EXPECT_TRUE(memory.ListCuda("")->empty());
  Expect(memory.ListSystem("r").status(), StatusCode::kNotFound,
         "Unable to find system shared memory region: 'r'");
  Expect(memory.ListCuda("r").status(), StatusCode::kNotFound,
         "Unable to find cuda shared memory region: 'r'");
}

TEST(SharedMemoryTest, ClientsMayBeAllowedOnlyWhatTheySend) {
  SharedMemory memory;
  ASSERT_TRUE(memory.Allow(AllowedRegions::kSent, {}).ok());
  memory::TemporaryObject object(kPage);
  const Status named = memory.RegisterSystem({"r", object.key(), 0, kPage});
  EXPECT_EQ(named.code(), StatusCode::kUnsupported);
  EXPECT_NE(named.message().find("'--allow-client-shm=sent'"), std::string::npos);
  auto sent = memory::SharedObject::Adopt("r", memfd_create("client", MFD_CLOEXEC));
  ASSERT_TRUE(sent.ok());
  ASSERT_EQ(ftruncate(sent->file(), kPage), 0);
  EXPECT_TRUE(memory.RegisterSent({"r", "", 0, kPage}, std::move(*sent)).ok());
  EXPECT_EQ(memory.ListSystem("")->size(), 1U);
  EXPECT_TRUE(memory.Unregister(SharedMemoryKind::kSystem, "r").ok());
}

class AllowedSharedMemoryTest : public ::testing::Test {
 protected:
  AllowedSharedMemoryTest() {
    EXPECT_TRUE(memory_.Allow(AllowedRegions::kAll, {}).ok());
    object_.Write(0, std::string(kPage, 'a') + std::string(kPage, 'b'));
    EXPECT_TRUE(memory_.RegisterSystem({"r", object_.key(), 0, 2 * kPage}).ok());
    request_.SetSink(std::make_shared<request::DiscardingSink>());
    request_.may_run_inline = true;
  }

  Status AttachInput(const request::RegionPart& part,
                     tensor::DataType type = tensor::DataType::kUint8) {
    request_.inputs().Clear();
    (void)request_.AddInput("IN", type, {int64_t(part.byte_size)});
    SharedTensors wanted;
    wanted.inputs = {{0, part}};
    return Attach(std::move(wanted));
  }
  Status Attach(SharedTensors wanted) {
    request_.shared_tensors = std::make_unique<SharedTensors>(std::move(wanted));
    return memory_.Attach(request_);
  }

  memory::TemporaryObject object_{2 * kPage};
  SharedMemory memory_;
  InferenceRequest request_;
};

TEST_F(AllowedSharedMemoryTest, BothKindsShareTheirNames) {
  Expect(memory_.ListCuda("r").status(), StatusCode::kNotFound,
         "The region named 'r' is registered as system shared memory, not CUDA shared memory");
  Expect(memory_.RegisterCuda({"r", "", 0, 1}), StatusCode::kAlreadyExists,
         "shared memory region 'r' already in manager");
  Expect(memory_.RegisterCuda({"c", "", 0, 1}), StatusCode::kInvalidArgument,
         "failed to register CUDA shared memory region: 'c', GPUs not supported");
  EXPECT_TRUE(memory_.Unregister(SharedMemoryKind::kCuda, "").ok());
  EXPECT_EQ(memory_.ListSystem("r")->size(), 1u) << "it is no CUDA region";
  EXPECT_TRUE(memory_.Unregister(SharedMemoryKind::kSystem, "r").ok());
  EXPECT_TRUE(memory_.ListSystem("")->empty());
}

TEST_F(AllowedSharedMemoryTest, InputsAreUsedInPlace) {
  ASSERT_TRUE(AttachInput({"r", kPage - 1, 2}).ok());
  EXPECT_EQ(request_.shared_tensors, nullptr);
  EXPECT_TRUE(request_.has_shared_memory);
  EXPECT_TRUE(request_.may_run_inline);
  ASSERT_EQ(request_.inputs()[0].pieces.size(), 1u);
  const request::InputPiece& piece = request_.inputs()[0].pieces[0];
  EXPECT_EQ(std::string(piece.data, piece.size), "ab");
  object_.Write(kPage, "B");
  EXPECT_EQ(piece.data[1], 'B');
  EXPECT_EQ(FindSharedStrings(request_).byte_size, 0u);
}

TEST_F(AllowedSharedMemoryTest, StringsAreCopied) {
  ASSERT_TRUE(AttachInput({"r", 0, 10}, tensor::DataType::kBytes).ok());
  EXPECT_EQ(FindSharedStrings(request_).byte_size, 10u);
  ASSERT_TRUE(OwnStrings(request_).ok());
  object_.Write(0, "zz");
  const request::InputPiece& piece = request_.inputs()[0].pieces[0];
  EXPECT_EQ(std::string(piece.data, piece.size), "aaaaaaaaaa");
  EXPECT_EQ(FindSharedStrings(request_).byte_size, 0u);
}

TEST(MarkSharedTest, InputsInTheMemoryAreMarkedAndStringsAreCopied) {
  std::string memory = "aaaabbbb";
  const std::string own = "cccc";
  InferenceRequest request;
  (*request.AddInput("N", tensor::DataType::kUint8, {4}))->Append(memory.data(), 4);
  (*request.AddInput("S", tensor::DataType::kBytes, {1}))->Append(memory.data() + 4, 4);
  (*request.AddInput("O", tensor::DataType::kUint8, {4}))->Append(own.data(), 4);
  (*request.AddInput("E", tensor::DataType::kUint8, {0}))->Append(memory.data() + 8, 0);
  ASSERT_TRUE(MarkShared(memory, request).ok());
  EXPECT_TRUE(request.has_shared_memory);
  EXPECT_TRUE(request.inputs()[0].in_shared_memory);
  EXPECT_FALSE(request.inputs()[2].in_shared_memory);
  EXPECT_FALSE(request.inputs()[3].in_shared_memory);
  memory.assign(8, 'x');
  EXPECT_EQ(*request.inputs()[0].pieces[0].data, 'x');
  EXPECT_EQ(std::string(request.inputs()[1].pieces[0].data, 4), "bbbb");
}

TEST_F(AllowedSharedMemoryTest, PartsThatTheRegionDoesNotHave) {
  Expect(AttachInput({"absent", 0, 1}), StatusCode::kNotFound,
         "Unable to find shared memory region: 'absent'");
  Expect(AttachInput({"r", 2 * kPage, 1}), StatusCode::kInvalidArgument,
         "Invalid offset for shared memory region: 'r'");
  Expect(AttachInput({"r", 1, 2 * kPage}), StatusCode::kInvalidArgument,
         "Invalid offset + byte size for shared memory region: 'r'");
  SharedTensors wanted;
  wanted.outputs = {{"OUT", {"r", 1, UINT64_MAX}}};
  EXPECT_EQ(Attach(wanted).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(request_.has_shared_memory);
}

TEST_F(AllowedSharedMemoryTest, ManyTensorsMayShareARegion) {
  SharedTensors wanted;
  for (size_t i = 0; i < 20; ++i) {
    const std::string name = "I" + std::to_string(i);
    (void)request_.AddInput(name, tensor::DataType::kUint8, {1});
    wanted.inputs.push_back({i, {"r", i, 1}});
    wanted.outputs.push_back({name, {"r", kPage + i, 1}});
  }
  ASSERT_TRUE(Attach(std::move(wanted)).ok());
  EXPECT_EQ(request_.inputs().ByteSize(), 20u);
}

TEST_F(AllowedSharedMemoryTest, LargeRequestsDoNotRunOnTheLoop) {
  constexpr uint64_t kLarge = (uint64_t{4} << 20) + 1;
  memory::TemporaryObject large(kLarge);
  ASSERT_TRUE(memory_.RegisterSystem({"large", large.key(), 0, kLarge}).ok());
  ASSERT_TRUE(AttachInput({"large", 0, kLarge}).ok());
  EXPECT_FALSE(request_.may_run_inline);
}

}  // namespace
}  // namespace nereid::api
