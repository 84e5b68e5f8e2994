// SPDX-License-Identifier: Apache-2.0
// The parts that need no socket of the server: texts, compression, message cutting, write queue.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/flood_guard.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/testing/test_client.h"
#include "frontend/grpc/write_queue.h"

namespace nereid::frontend::grpc {
namespace {

TEST(CallStatus, EncodesTextsForAHeader) {
  EXPECT_EQ(PercentEncode("plain text!"), "plain text!");
  EXPECT_EQ(PercentEncode("100%\n\xc3\xa4"), "100%25%0A%C3%A4");
  EXPECT_EQ(PercentEncode("x\xff"), "x%EF%BF%BD");
  EXPECT_LT(PercentEncode(std::string(100000, '\n')).size(), 8192u);
  std::string euros;
  for (int i = 0; i < 10000; ++i) euros += "\u20AC";
  const std::string cut = PercentEncode("a" + euros);
  EXPECT_LT(cut.size(), 8192u);
  EXPECT_TRUE(cut.ends_with("%E2%82%AC"));
}

TEST(RequestHead, KnowsGrpcContentTypes) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "application/grpc;x=y"}) {
    RequestHead head;
    head.Add("content-type", type);
    EXPECT_TRUE(head.is_grpc) << type;
  }
  for (const char* type : {"application/json", "application/grpc-web", "application/grp", ""}) {
    RequestHead head;
    head.Add("content-type", type);
    EXPECT_FALSE(head.is_grpc) << type;
  }
}

TEST(Compression, ChoosesWhatTheClientAccepts) {
  EXPECT_EQ(ChooseEncoding(""), Encoding::kIdentity);
  EXPECT_EQ(ChooseEncoding("identity"), Encoding::kIdentity);
  EXPECT_EQ(ChooseEncoding("identity, deflate"), Encoding::kDeflate);
  EXPECT_EQ(ChooseEncoding("identity,deflate, gzip ,br"), Encoding::kGzip);
}

TEST(Compression, RoundTripsAndBoundsTheResult) {
  const std::string text(300000, 'q');
  for (const Encoding encoding : {Encoding::kDeflate, Encoding::kGzip}) {
    const std::string_view pieces[] = {std::string_view(text).substr(0, 1),
                                       std::string_view(text).substr(1)};
    std::string compressed;
    ASSERT_TRUE(Compress(pieces, encoding, 1, &compressed).ok());
    const auto plain = Decompress(compressed, encoding, text.size());
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    EXPECT_EQ(plain->bytes, text);
    EXPECT_EQ(Decompress(compressed, encoding, text.size() - 1).status().code(),
              base::StatusCode::kUnavailable);
    EXPECT_FALSE(Decompress(compressed + "x", encoding, text.size()).ok());
    EXPECT_FALSE(
        Decompress(compressed.substr(0, compressed.size() - 1), encoding, text.size()).ok());
  }
  EXPECT_FALSE(Decompress("", Encoding::kGzip, 10).ok());
}

TEST(MessageReader, CutsMessagesWhereverTheyAreSplit) {
  const std::string bytes = testing::Frame("first") + testing::Frame("") + testing::Frame("third");
  for (size_t split = 1; split <= bytes.size(); ++split) {
    MessageReader reader(100, Encoding::kIdentity);
    std::vector<std::string> found;
    for (size_t at = 0; at < bytes.size(); at += split) {
      std::string_view part = std::string_view(bytes).substr(at, split);
      while (!part.empty()) {
        const auto event = reader.Read(&part);
        ASSERT_NE(event, MessageReader::Event::kError);
        if (event != MessageReader::Event::kMessage) continue;
        const StoredBytes message = reader.TakeMessage();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(message.bytes.data() + message.bytes.size()) % 64,
                  0u);
        found.emplace_back(message.bytes);
      }
    }
    EXPECT_EQ(found, (std::vector<std::string>{"first", "", "third"})) << split;
    EXPECT_FALSE(reader.InMessage());
  }
}

TEST(FloodGuard, LetsThroughWhatTimeAndWorkPayFor) {
  uint64_t now = 1'000'000'000;
  const auto clock = [&now] { return now; };
  FloodGuard guard(3, 10, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  guard.Earn();
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  now += 200'000'000;  // pays for two
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
  now += uint64_t{3600} * 1'000'000'000;  // never more than the burst
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(guard.Allow(clock));
  EXPECT_FALSE(guard.Allow(clock));
}

TEST(WriteQueue, KeepsOrderAndOwnersUntilWritten) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  auto owner = std::make_shared<std::string>(std::string(3 << 20, 'v'));
  const std::weak_ptr<std::string> watch = owner;
  WriteQueue queue;
  queue.Copy("head");
  queue.Copy("er");
  queue.View(*owner, owner);
  queue.Copy("tail");
  std::string expected = "header" + *owner + "tail";
  owner.reset();
  EXPECT_EQ(queue.pending(), expected.size());
  std::string found;
  std::string buffer(1 << 16, '\0');
  bool blocked = false;
  while (found.size() < expected.size()) {
    if (queue.pending() > 0) {
      const auto outcome = queue.Write(sockets[0]);
      ASSERT_NE(outcome, WriteQueue::Outcome::kFailed);
      blocked |= outcome == WriteQueue::Outcome::kBlocked;
    }
    const ssize_t size = recv(sockets[1], buffer.data(), buffer.size(), 0);
    ASSERT_GT(size, 0);
    found.append(buffer, 0, static_cast<size_t>(size));
  }
  EXPECT_TRUE(blocked);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(queue.pending(), 0u);
  EXPECT_TRUE(watch.expired());
  close(sockets[1]);
  queue.Copy("nobody reads");
  EXPECT_EQ(queue.Write(sockets[0]), WriteQueue::Outcome::kFailed);
  close(sockets[0]);
}

}  // namespace
}  // namespace nereid::frontend::grpc
