// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "frontend/grpc/message_frame.h"
#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::grpc {
namespace {

class OutboxTest : public ::testing::Test {
 protected:
  // Returns the next `size` bytes as they come out of the write queue.
  std::string Move(size_t size) {
    outbox_.MoveTo(size, &queue_);
    EXPECT_EQ(queue_.Write(stream_), WriteQueue::Outcome::kDone);
    return std::exchange(stream_.output, {});
  }

  net::testing::MemoryStream stream_;
  WriteQueue queue_;
  Outbox outbox_;
};

TEST_F(OutboxTest, MovesMessagesInOrderAndInAnySlices) {
  outbox_.Push(FrameMessage("first"), {});
  outbox_.Push(FrameMessage(std::string(10000, 'x')), {});
  outbox_.Push(FrameMessage(""), {});
  EXPECT_EQ(outbox_.unsent(), 10u + 10005u + 5u);
  std::string all;
  for (const size_t size : {3, 7, 6000, 4005}) all += Move(size);
  EXPECT_EQ(outbox_.unsent(), 5u);
  all += Move(100);  // more than there is
  EXPECT_EQ(outbox_.unsent(), 0u);
  using namespace std::string_literals;
  EXPECT_EQ(all, "\0\0\0\0\5first\0\0\0\x27\x10"s + std::string(10000, 'x') + "\0\0\0\0\0"s);
}

TEST_F(OutboxTest, GivesTheBudgetBackWhenAMessageHasBeenMoved) {
  const auto budget = std::make_shared<base::ByteBudget>(100, std::chrono::milliseconds(0));
  outbox_.Push(FrameMessage("a message"), budget->Force(80));
  EXPECT_TRUE(budget->IsHalfSpent());
  Move(13);
  EXPECT_TRUE(budget->IsHalfSpent());
  Move(1);
  EXPECT_FALSE(budget->IsHalfSpent());
}

TEST_F(OutboxTest, ClearDropsMessagesAndTheirShares) {
  const auto budget = std::make_shared<base::ByteBudget>(100, std::chrono::milliseconds(0));
  outbox_.Push(FrameMessage("a message"), budget->Force(80));
  Move(2);
  outbox_.Clear();
  EXPECT_EQ(outbox_.unsent(), 0u);
  EXPECT_FALSE(budget->IsHalfSpent());
  EXPECT_EQ(Move(10), "");
}

}  // namespace
}  // namespace nereid::frontend::grpc
