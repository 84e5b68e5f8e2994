// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http2 {
namespace {

class OutboxTest : public ::testing::Test {
 protected:
  // Adds a message that consists of `pieces`.
  void Push(std::vector<std::string> pieces, base::ByteShare share = {}) {
    const auto owner = std::make_shared<const std::vector<std::string>>(std::move(pieces));
    const std::vector<std::string_view> views(owner->begin(), owner->end());
    outbox_.Push(views, owner, std::move(share));
    last_ = owner;
  }

  // Returns the next `size` bytes as they come out of the write queue.
  std::string Move(size_t size) {
    outbox_.MoveTo(size, &queue_);
    EXPECT_EQ(queue_.Write(stream_), WriteQueue::Outcome::kDone);
    return std::exchange(stream_.output, {});
  }

  net::testing::MemoryStream stream_;
  WriteQueue queue_;
  Outbox outbox_;
  std::weak_ptr<const void> last_;
};

TEST_F(OutboxTest, MovesMessagesInOrderAndInAnySlices) {
  Push({"fi", "", "rst"});
  Push({std::string(10000, 'x')});
  Push({""});
  Push({"last", ""});
  EXPECT_EQ(outbox_.unsent(), 10009u);
  std::string all;
  for (const size_t size : {3, 7, 6000, 3995}) all += Move(size);
  EXPECT_EQ(outbox_.unsent(), 4u);
  all += Move(100);  // more than there is
  EXPECT_EQ(outbox_.unsent(), 0u);
  EXPECT_EQ(all, "first" + std::string(10000, 'x') + "last");
}

TEST_F(OutboxTest, GivesTheBudgetBackWhenAMessageHasBeenMoved) {
  const auto budget = std::make_shared<base::ByteBudget>(100, std::chrono::milliseconds(0));
  Push({"a mes", "sage", ""}, budget->Force(80));
  EXPECT_TRUE(budget->IsHalfSpent());
  Move(8);
  EXPECT_TRUE(budget->IsHalfSpent());
  Move(1);
  EXPECT_FALSE(budget->IsHalfSpent());
}

TEST_F(OutboxTest, LargePiecesKeepTheirOwnerUntilTheyAreWritten) {
  Push({std::string(10000, 'x')});
  outbox_.MoveTo(10000, &queue_);
  EXPECT_EQ(outbox_.unsent(), 0u);
  EXPECT_FALSE(last_.expired());
  EXPECT_EQ(queue_.Write(stream_), WriteQueue::Outcome::kDone);
  EXPECT_TRUE(last_.expired());
}

TEST_F(OutboxTest, ClearDropsMessagesAndTheirShares) {
  const auto budget = std::make_shared<base::ByteBudget>(100, std::chrono::milliseconds(0));
  Push({"a message"}, budget->Force(80));
  Move(2);
  outbox_.Clear();
  EXPECT_EQ(outbox_.unsent(), 0u);
  EXPECT_FALSE(budget->IsHalfSpent());
  EXPECT_TRUE(last_.expired());
  EXPECT_EQ(Move(10), "");
}

}  // namespace
}  // namespace nereid::frontend::http2
