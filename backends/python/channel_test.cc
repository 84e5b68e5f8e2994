// SPDX-License-Identifier: Apache-2.0
#include "python/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "python/testing/worker_socket.h"

namespace nereid::python {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kLimit = uint64_t{1} << 20;

/// A channel and the socket of its worker.
class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() : segments_(kLimit), wake_(eventfd(0, EFD_NONBLOCK)) {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    channel_ = std::make_unique<Channel>(base::UniqueFd(pair[0]), &segments_, wake_.get());
    worker_.Reset(pair[1]);
  }

  /// Sends a datagram as the worker does.
  void Worker(const std::vector<char>& message, int file = -1) const {
    SendAsWorker(worker_.get(), message, file);
  }

  Channel::Received Receive() {
    violation_.clear();
    return channel_->Receive(false, &in_, &violation_);
  }

  static std::vector<char> Message(MessageType type, uint64_t id, std::string_view body = "",
                                   const std::vector<uint32_t>& released = {}) {
    std::vector<char> bytes;
    WireWriter out(&bytes);
    WriteHeader(&out, type, id, released);
    out.Raw(body);
    return bytes;
  }

  static std::string_view Size(const uint64_t& size) {
    return {reinterpret_cast<const char*>(&size), sizeof(size)};
  }

  static base::UniqueFd File(uint64_t size, int seals) {
    base::UniqueFd file(memfd_create("test", MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
    EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, seals), 0);
    return file;
  }

  Segments segments_;
  base::UniqueFd wake_;
  std::unique_ptr<Channel> channel_;
  base::UniqueFd worker_;
  Incoming in_;
  std::string violation_;
};

TEST_F(ChannelTest, AMessageIsReceived) {
  EXPECT_EQ(Receive(), Channel::Received::kNothing);
  Worker(Message(MessageType::kResults, 9, "body"));
  ASSERT_EQ(Receive(), Channel::Received::kMessage);
  EXPECT_EQ(in_.header.id, 9U);
  EXPECT_EQ(std::string(in_.body.data(), in_.body.size()), "body");
  worker_.Reset();
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_EQ(violation_, "");
}

TEST_F(ChannelTest, ASegmentIsMappedBeforeTheMessageThatFollows) {
  const uint64_t size = 65536;
  const base::UniqueFd file = File(size, F_SEAL_SHRINK);
  ASSERT_EQ(pwrite(file.get(), "abc", 3, 100), 3);
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(size)), file.get());
  Worker(Message(MessageType::kResults, 1));
  ASSERT_EQ(Receive(), Channel::Received::kMessage);
  const auto memory = segments_.Find(kWorkerSegment);
  ASSERT_TRUE(memory);
  EXPECT_EQ(std::string(memory.data + 100, 3), "abc");
  const uint64_t gone = 0;
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(gone)));
  Worker(Message(MessageType::kResults, 2));
  ASSERT_EQ(Receive(), Channel::Received::kMessage);
  EXPECT_FALSE(segments_.Find(kWorkerSegment));
}

TEST_F(ChannelTest, AFileThatMayShrinkIsRefused) {
  const uint64_t size = 65536;
  const base::UniqueFd file = File(size, F_SEAL_GROW);
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(size)), file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a file that may shrink"));
}

TEST_F(ChannelTest, AFileThatIsTooSmallIsRefused) {
  const uint64_t size = 65537;
  const base::UniqueFd file = File(65536, F_SEAL_SHRINK);
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(size)), file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a file of 65536 bytes"));
}

TEST_F(ChannelTest, AFileThatIsNoMemoryIsRefused) {
  const uint64_t size = 1;
  const base::UniqueFd file(open("/proc/self/exe", O_RDONLY));
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(size)), file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a file that may shrink"));
}

TEST_F(ChannelTest, ASegmentAboveTheLimitIsRefused) {
  const uint64_t size = kLimit + 1;
  const base::UniqueFd file = File(size, F_SEAL_SHRINK);
  Worker(Message(MessageType::kSegment, kWorkerSegment, Size(size)), file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("shared_memory_limit_bytes"));
}

TEST_F(ChannelTest, AReleaseOfAStrangeSegmentIsRefused) {
  Worker(Message(MessageType::kResults, 1, "", {42}));
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("did not have"));
}

TEST_F(ChannelTest, ALongMessageComesInAFile) {
  const std::string body(3 * kMaxMessage, 'x');
  const std::vector<char> content = Message(MessageType::kResults, 5, body);
  const base::UniqueFd file = File(0, 0);
  ASSERT_EQ(write(file.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  std::vector<char> header = Message(MessageType::kResults, 5);
  header[1] = static_cast<char>(kFlagLong);
  Worker(header, file.get());
  ASSERT_EQ(Receive(), Channel::Received::kMessage);
  EXPECT_EQ(in_.body.size(), body.size());
  Worker(header);
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a long message without its file"));
}

TEST_F(ChannelTest, ALongMessageWithoutMemoryIsRefused) {
  std::vector<char> header = Message(MessageType::kResults, 5);
  header[1] = static_cast<char>(kFlagLong);
  const base::UniqueFd file = File(uint64_t{1} << 30, 0);
  Worker(header, file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("a long message without its file"));
}

TEST_F(ChannelTest, ALongMessageInsideOfALongOneIsRefused) {
  std::vector<char> header = Message(MessageType::kResults, 5);
  header[1] = static_cast<char>(kFlagLong);
  const base::UniqueFd file = File(0, 0);
  ASSERT_EQ(write(file.get(), header.data(), header.size()), static_cast<ssize_t>(header.size()));
  Worker(header, file.get());
  EXPECT_EQ(Receive(), Channel::Received::kClosed);
  EXPECT_THAT(violation_, HasSubstr("inside of a long message"));
}

TEST_F(ChannelTest, WhatTheSocketDoesNotTakeIsSentLater) {
  const std::string body(kMaxMessage / 2, 'x');
  int posted = 0;
  while (!channel_->HasQueued()) {
    ASSERT_TRUE(channel_->Post(Message(MessageType::kReply, 1, body)));
    ++posted;
  }
  eventfd_t woken = 0;
  EXPECT_EQ(eventfd_read(wake_.get(), &woken), 0);
  EXPECT_FALSE(channel_->Flush());
  std::vector<char> received(kMaxMessage);
  int read = 0;
  while (recv(worker_.get(), received.data(), received.size(), MSG_DONTWAIT) > 0) {
    ++read;
    channel_->Flush();
  }
  EXPECT_EQ(read, posted);
  EXPECT_TRUE(channel_->Flush());
}

TEST_F(ChannelTest, ABlockIsAnnouncedAfterItsArena) {
  std::shared_ptr<InputArena> arena;
  ASSERT_EQ(InputArena::Create(&arena).message(), "");
  for (const bool is_known : {false, true}) {
    TakenSegment taken;
    ASSERT_TRUE(segments_.pool.TakeBlock(arena->Take(100'000), &taken));
    ASSERT_TRUE(channel_->Send(Message(MessageType::kExecute, 5), {&taken, 1}));
    std::vector<char> received(kMaxMessage);
    if (!is_known) {
      for (const MessageType type : {MessageType::kSegment, MessageType::kBlock}) {
        ASSERT_GT(recv(worker_.get(), received.data(), received.size(), MSG_DONTWAIT), 0);
        EXPECT_EQ(received[0], static_cast<char>(type));
      }
    }
    ASSERT_GT(recv(worker_.get(), received.data(), received.size(), MSG_DONTWAIT), 0);
    EXPECT_EQ(received[0], static_cast<char>(MessageType::kExecute));
    EXPECT_TRUE(segments_.pool.Free(taken.id));
  }
  EXPECT_GE(fcntl(arena->file(), F_GETFD), 0) << "the next worker needs the file";
}

TEST(SegmentPoolTest, AFreeSegmentIsUsedAgain) {
  SegmentPool pool(kLimit);
  TakenSegment first;
  ASSERT_TRUE(pool.Take(100'000, &first).ok());
  EXPECT_FALSE(first.announced);
  TakenSegment second;
  ASSERT_TRUE(pool.Take(100'000, &second).ok());
  EXPECT_NE(first.id, second.id);
  EXPECT_TRUE(pool.Free(first.id));
  EXPECT_FALSE(pool.Free(first.id));
  EXPECT_FALSE(pool.Find(first.id));
  TakenSegment third;
  ASSERT_TRUE(pool.Take(90'000, &third).ok());
  EXPECT_EQ(third.id, first.id);
  EXPECT_TRUE(third.announced);
}

TEST(SegmentPoolTest, TheLimitNamesTheParameter) {
  SegmentPool pool(kLimit);
  TakenSegment taken;
  ASSERT_TRUE(pool.Take(kLimit, &taken).ok());
  const backend::Error refused = pool.Take(1, &taken);
  EXPECT_THAT(refused.message(), HasSubstr("shared_memory_limit_bytes"));
  EXPECT_FALSE(pool.Take(UINT64_MAX, &taken).ok());
}

TEST(SegmentPoolTest, ASegmentThatWasNotPassedIsAnnouncedLater) {
  SegmentPool pool(kLimit);
  TakenSegment taken;
  ASSERT_TRUE(pool.Take(100'000, &taken).ok());
  pool.Return(taken);
  EXPECT_EQ(pool.used_bytes(), 0U);
  ASSERT_TRUE(pool.Take(100'000, &taken).ok());
  EXPECT_FALSE(taken.announced);
  EXPECT_TRUE(pool.Free(taken.id));
  ASSERT_TRUE(pool.Take(100'000, &taken).ok());
  EXPECT_TRUE(taken.announced);
  pool.Return(taken);
  ASSERT_TRUE(pool.Take(100'000, &taken).ok());
  EXPECT_TRUE(taken.announced);
}

class BlockTest : public ::testing::Test {
 protected:
  BlockTest() { EXPECT_EQ(InputArena::Create(&arena_).message(), ""); }

  std::shared_ptr<InputArena> arena_;
  SegmentPool pool_{kLimit};
  TakenSegment taken_;
};

TEST_F(BlockTest, ABlockIsASegmentUntilTheWorkerReleasesIt) {
  std::shared_ptr<InputBlock> block = arena_->Take(100'000);
  const InputBlock* const first = block.get();
  ASSERT_TRUE(pool_.TakeBlock(block, &taken_));
  EXPECT_FALSE(taken_.announced);
  EXPECT_FALSE(taken_.arena_announced);
  EXPECT_NE(taken_.arena, taken_.id);
  EXPECT_EQ(pool_.used_bytes(), block->size());
  const SegmentMemory found = pool_.Find(taken_.id);
  EXPECT_EQ(found.data, block->data());
  EXPECT_EQ(found.size, block->size());
  EXPECT_TRUE(found.is_block);
  TakenSegment twice;
  EXPECT_FALSE(pool_.TakeBlock(block, &twice)) << "the worker has it";

  const uint32_t id = taken_.id;
  taken_ = {};
  block.reset();
  EXPECT_TRUE(pool_.Free(id));
  EXPECT_FALSE(pool_.Free(id));
  EXPECT_EQ(pool_.used_bytes(), 0U);
  EXPECT_FALSE(pool_.Find(id));
  EXPECT_EQ(found.owner.get(), first) << "what was found before is still there";
}

TEST_F(BlockTest, APlaceOfTheArenaIsAnnouncedOnce) {
  uint32_t ids[2] = {};
  for (uint32_t& id : ids) {
    ASSERT_TRUE(pool_.TakeBlock(arena_->Take(100'000), &taken_));
    EXPECT_EQ(taken_.announced, id != ids[0]);
    EXPECT_EQ(taken_.arena_announced, id != ids[0]);
    id = taken_.id;
    taken_ = {};
    EXPECT_TRUE(pool_.Free(id));
  }
  EXPECT_EQ(ids[0], ids[1]);
}

TEST_F(BlockTest, ABlockThatWasNotPassedIsAnnouncedLater) {
  ASSERT_TRUE(pool_.TakeBlock(arena_->Take(100'000), &taken_));
  pool_.Return(taken_);
  taken_ = {};
  EXPECT_EQ(pool_.used_bytes(), 0U);
  ASSERT_TRUE(pool_.TakeBlock(arena_->Take(100'000), &taken_));
  EXPECT_FALSE(taken_.announced);
  EXPECT_FALSE(taken_.arena_announced);
}

TEST_F(BlockTest, TheLimitOfTheWorkerCountsBlocks) {
  ASSERT_TRUE(pool_.TakeBlock(arena_->Take(kLimit), &taken_));
  TakenSegment second;
  EXPECT_FALSE(pool_.TakeBlock(arena_->Take(1), &second));
  EXPECT_FALSE(pool_.Take(1, &second).ok());
  EXPECT_TRUE(pool_.Free(taken_.id));
  EXPECT_TRUE(pool_.TakeBlock(arena_->Take(1), &second));
}

TEST(SegmentPoolTest, MuchFreeMemoryIsGivenBack) {
  SegmentPool pool(uint64_t{1} << 30);
  TakenSegment taken;
  ASSERT_TRUE(pool.Take(SegmentPool::kKept + 1, &taken).ok());
  EXPECT_TRUE(pool.Free(taken.id));
  EXPECT_EQ(pool.used_bytes(), 0U);
  EXPECT_TRUE(pool.HasDropped());
  EXPECT_THAT(pool.TakeDropped(), ElementsAre(taken.id));
  EXPECT_FALSE(pool.HasDropped());
}

TEST(SegmentSizeTest, ASegmentIsAtMostAnEighthLarger) {
  EXPECT_EQ(SegmentSize(1), kLeastSegment);
  EXPECT_EQ(SegmentSize(UINT64_MAX), 0U);
  for (uint64_t size = kLeastSegment; size < uint64_t{1} << 40; size = size * 3 / 2 + 1) {
    EXPECT_GE(SegmentSize(size), size);
    EXPECT_LE(SegmentSize(size), size + size / 8 + 1);
  }
}

}  // namespace
}  // namespace nereid::python
