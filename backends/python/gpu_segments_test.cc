// SPDX-License-Identifier: Apache-2.0
// Segments in the memory of the fake GPU.
#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "device/shared_allocation.h"
#include "python/channel.h"
#include "python/gpu_sharing.h"
#include "python/segment_uses.h"
#include "python/testing/worker_socket.h"
#include "tests/fake_gpu/control.h"

namespace nereid::python {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kUnit = uint64_t{2} << 20;
constexpr uint64_t kLimit = 4 * kUnit;

const fake_gpu::Control& Control() { return fake_gpu::Control::Get(); }
size_t Used() { return Control().allocated_bytes(0); }

/// Where the fake keeps memory of the GPU.
char* Host(const char* data) {
  return static_cast<char*>(Control().host_address(reinterpret_cast<uint64_t>(data), 16));
}

class GpuSegmentsTest : public ::testing::Test {
 protected:
  void TearDown() override { Control().fail(""); }

  /// Adds memory of the GPU as a segment of the worker, and writes to it.
  void AddWorkerSegment(uint32_t id, std::string_view content) {
    base::UniqueFd file;
    auto made = device::SharedAllocation::Create(0, kUnit, &file);
    ASSERT_TRUE(made.ok());
    ASSERT_EQ(segments_.worker.Announce(id, kUnit, std::move(file), 0).message(), "");
    std::memcpy(Host((*made)->data()), content.data(), content.size());
  }

  static WireTensor Tensor(uint32_t segment, uint64_t offset, uint64_t size) {
    WireTensor tensor;
    tensor.data_type = TRITONSERVER_TYPE_UINT8;
    tensor.segment = segment;
    tensor.offset = offset;
    tensor.size = size;
    return tensor;
  }

  Segments segments_{kLimit};
};

TEST_F(GpuSegmentsTest, ASegmentOfAGpuIsUsedAgainOnThatGpu) {
  TakenSegment first;
  ASSERT_TRUE(segments_.pool.Take(100, &first, 0).ok());
  EXPECT_EQ(first.memory->gpu(), 0);
  EXPECT_EQ(first.memory->size(), kUnit);
  EXPECT_TRUE(segments_.pool.Free(first.id));
  TakenSegment on_host;
  ASSERT_TRUE(segments_.pool.Take(100, &on_host).ok());
  EXPECT_EQ(on_host.memory->gpu(), -1);
  EXPECT_NE(on_host.id, first.id);
  TakenSegment again;
  ASSERT_TRUE(segments_.pool.Take(kUnit, &again, 0).ok());
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(segments_.pool.Find(again.id).gpu, 0);
  EXPECT_EQ(segments_.pool.Find(on_host.id).gpu, -1);
}

TEST_F(GpuSegmentsTest, TheLimitCountsBothKindsOfMemory) {
  TakenSegment taken;
  ASSERT_TRUE(segments_.pool.Take(3 * kUnit, &taken, 0).ok());
  ASSERT_TRUE(segments_.pool.Take(kUnit / 2, &taken).ok());
  EXPECT_THAT(segments_.pool.Take(kUnit, &taken, 0).message(),
              HasSubstr("shared_memory_limit_bytes"));
  EXPECT_TRUE(segments_.pool.Take(kUnit / 4, &taken).ok());
}

TEST_F(GpuSegmentsTest, AFullGpuIsAnError) {
  Control().fail("cuMemCreate=2");
  TakenSegment taken;
  EXPECT_THAT(segments_.pool.Take(100, &taken, 0).message(),
              HasSubstr("cannot allocate 2097152 bytes of shared memory on GPU 0"));
  EXPECT_EQ(segments_.pool.used_bytes(), 0U);
}

TEST_F(GpuSegmentsTest, TheContentIsCopiedToHostAndGpuMemory) {
  AddWorkerSegment(kWorkerSegment + 1, "0123456789");
  TakenSegment target;
  ASSERT_TRUE(segments_.pool.Take(100, &target, 0).ok());
  const WireTensor tensor = Tensor(kWorkerSegment + 1, 2, 8);
  std::string host(8, ' ');
  {
    SegmentUses uses(&segments_, {}, true);
    uses.Add({tensor});
    EXPECT_EQ(uses.GpuOf(tensor), 0);
    EXPECT_TRUE(uses.Copy(tensor, {host.data()}).ok());
    EXPECT_TRUE(uses.Copy(tensor, {target.memory->data(), 0}).ok());
    EXPECT_TRUE(uses.Wait().ok());
    EXPECT_EQ(host, "23456789");
    EXPECT_EQ(std::string(Host(target.memory->data()), 8), "23456789");
    TensorContent lent;
    EXPECT_FALSE(uses.Lend(tensor, &lent)) << "responses do not refer to memory of a worker's GPU";
  }
  EXPECT_THAT(segments_.read->Take(), ElementsAre(kWorkerSegment + 1));
}

TEST_F(GpuSegmentsTest, WhatATensorMayNotSayIsRefused) {
  AddWorkerSegment(kWorkerSegment + 1, "");
  char out[16];
  SegmentUses uses(&segments_, {}, true);
  WireTensor tensor = Tensor(kWorkerSegment + 1, kUnit - 4, 8);
  uses.Add({tensor});
  EXPECT_THAT(uses.Copy(tensor, {out}).message(), HasSubstr("not in the shared memory"));
  tensor.offset = UINT64_MAX - 4;
  EXPECT_FALSE(uses.Check(tensor).ok());
  TensorContent content;
  EXPECT_FALSE(uses.LendOnGpu(tensor, &content).ok());
  tensor = Tensor(kWorkerSegment + 1, 0, 8);
  tensor.data_type = TRITONSERVER_TYPE_BYTES;
  EXPECT_THAT(uses.Copy(tensor, {out}).message(),
              HasSubstr("BYTES, which cannot be in GPU memory"));
}

TEST_F(GpuSegmentsTest, AnInputOfACallKeepsItsSegment) {
  AddWorkerSegment(kWorkerSegment + 1, "content");
  TensorContent content;
  {
    SegmentUses uses(&segments_, {}, false);
    const WireTensor tensor = Tensor(kWorkerSegment + 1, 0, 7);
    uses.Add({tensor});
    ASSERT_TRUE(uses.LendOnGpu(tensor, &content).ok());
    EXPECT_EQ(content.gpu, 0);
  }
  EXPECT_THAT(segments_.read->Take(), IsEmpty());
  EXPECT_TRUE(segments_.worker.Announce(kWorkerSegment + 1, 0, {}).ok());
  EXPECT_EQ(std::string(Host(content.data), 7), "content") << "the worker has dropped it";
  content = {};
  EXPECT_THAT(segments_.read->Take(), ElementsAre(kWorkerSegment + 1));
}

TEST_F(GpuSegmentsTest, AFailedCopyIsAnError) {
  AddWorkerSegment(kWorkerSegment + 1, "");
  const WireTensor tensor = Tensor(kWorkerSegment + 1, 0, 8);
  char out[8];
  SegmentUses uses(&segments_, {}, true);
  uses.Add({tensor});
  Control().fail("cuMemcpyAsync=1");
  EXPECT_THAT(uses.Copy(tensor, {out}).message(), HasSubstr("cannot copy 8 bytes"));
  Control().fail("cuStreamSynchronize=700");
  EXPECT_TRUE(uses.Copy(tensor, {out}).ok());
  EXPECT_FALSE(uses.Wait().ok());
}

/// Server and worker with the sockets between them.
class GpuChannelTest : public GpuSegmentsTest {
 protected:
  GpuChannelTest() : wake_(eventfd(0, EFD_CLOEXEC)) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    channel_ = std::make_unique<Channel>(base::UniqueFd(ends[0]), &segments_, wake_.get());
    worker_.Reset(ends[1]);
  }

  /// The worker announces a segment on a GPU and sends a message.
  Channel::Received Announce(uint64_t size, const device::CuUuid& uuid, int file,
                             size_t uuid_bytes = sizeof(device::CuUuid)) {
    std::vector<char> message;
    WireWriter out(&message);
    WriteHeader(&out, MessageType::kSegment, kWorkerSegment, {});
    out.Number(size);
    out.Raw({uuid.bytes, uuid_bytes});
    SendAsWorker(worker_.get(), message, file);
    message.clear();
    WriteHeader(&out, MessageType::kResults, 1, {});
    SendAsWorker(worker_.get(), message);
    return channel_->Receive(false, &in_, &violation_);
  }

  const device::CuUuid uuid_ = *device::UuidOf(0);
  base::UniqueFd wake_;
  std::unique_ptr<Channel> channel_;
  base::UniqueFd worker_;
  Incoming in_;
  std::string violation_;
};

TEST_F(GpuChannelTest, ASegmentOnAGpuIsAnnouncedWithItsUuid) {
  TakenSegment taken;
  ASSERT_TRUE(segments_.pool.Take(100, &taken, 0).ok());
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kExecute, 5, {});
  ASSERT_TRUE(channel_->Send(message, {&taken, 1}));
  std::vector<char> received(100);
  ASSERT_EQ(recv(worker_.get(), received.data(), received.size(), 0), 16 + 8 + 16);
  EXPECT_EQ(std::string(received.data() + 24, 16), std::string(uuid_.bytes, 16));
  EXPECT_EQ(taken.memory->file(), -1) << "the worker has it";
}

TEST_F(GpuChannelTest, ASegmentOfTheWorkersGpuIsMapped) {
  base::UniqueFd file;
  const auto made = device::SharedAllocation::Create(0, kUnit, &file);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(Announce(kUnit, uuid_, file.get()), Channel::Received::kMessage) << violation_;
  EXPECT_EQ(segments_.Find(kWorkerSegment).gpu, 0);
  EXPECT_EQ(segments_.Find(kWorkerSegment).size, kUnit);
}

TEST_F(GpuChannelTest, MemoryThatTheDriverDoesNotOpenIsNoSegment) {
  base::UniqueFd file;
  const auto made = device::SharedAllocation::Create(0, kUnit, &file);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(Announce(2 * kUnit, uuid_, file.get()), Channel::Received::kMessage);
  EXPECT_FALSE(segments_.Find(kWorkerSegment)) << "it is smaller";
  const base::UniqueFd other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(Announce(kUnit, uuid_, other.get()), Channel::Received::kMessage);
  EXPECT_FALSE(segments_.Find(kWorkerSegment));
}

TEST_F(GpuChannelTest, AnUnknownGpuBreaksTheProtocol) {
  base::UniqueFd file;
  const auto made = device::SharedAllocation::Create(0, kUnit, &file);
  ASSERT_TRUE(made.ok());
  device::CuUuid other = uuid_;
  other.bytes[0] = static_cast<char>(other.bytes[0] ^ 1);
  EXPECT_EQ(Announce(kUnit, other, file.get()), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a GPU that the server does not share"));
}

TEST_F(GpuChannelTest, AUuidThatIsCutOffBreaksTheProtocol) {
  base::UniqueFd file;
  const auto made = device::SharedAllocation::Create(0, kUnit, &file);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(Announce(kUnit, uuid_, file.get(), 7), Channel::Received::kClosed);
}

TEST_F(GpuChannelTest, MoreThanTheLimitBreaksTheProtocol) {
  const size_t before = Used();
  base::UniqueFd file;
  auto made = device::SharedAllocation::Create(0, kLimit + kUnit, &file);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(Announce(kLimit + kUnit, uuid_, file.get()), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("shared_memory_limit_bytes"));
  made = base::Status::Internal("");
  EXPECT_EQ(Used(), before);
}

TEST(SharedGpusTest, TheGpusAreFound) {
  ASSERT_EQ(SharedGpus().size(), 1U);
  EXPECT_EQ(FindSharedGpu(SharedGpus()[0].uuid), 0);
  EXPECT_EQ(FindSharedGpu(0), SharedGpus().data());
  EXPECT_EQ(FindSharedGpu(1), nullptr);
  EXPECT_EQ(FindSharedGpu(device::CuUuid{}), -1);
  EXPECT_EQ(HexText(device::CuUuid{"\x01\xff"}), "01ff" + std::string(28, '0'));
}

}  // namespace
}  // namespace nereid::python
