// SPDX-License-Identifier: Apache-2.0
#include "memory/receive_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace nereid::memory {
namespace {

using Outcome = ReceiveBuffer::Outcome;

constexpr size_t kMiB = size_t{1} << 20;

std::shared_ptr<base::ByteBudget> Budget(size_t limit) {
  return std::make_shared<base::ByteBudget>(limit, std::chrono::milliseconds(0));
}

/// Returns whether `size` more bytes can be taken from the budget.
bool HasRoom(const std::shared_ptr<base::ByteBudget>& budget, size_t size) {
  base::ByteShare share;
  return budget->Take(size, false, &share);
}

std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
  return text;
}

TEST(ReceiveBufferTest, AnAnnouncedSizeIsOnePiece) {
  ReceiveBuffer buffer;
  buffer.Start(8, kMiB);
  std::span<char> room;
  ASSERT_EQ(buffer.MakeRoom(SIZE_MAX, &room), Outcome::kDone);
  EXPECT_EQ(room.size(), kMiB);
  buffer.Advance(kMiB);
  EXPECT_EQ(buffer.size(), kMiB);
}

TEST(ReceiveBufferTest, KeepsItsContentsWhileItGrows) {
  const std::string content = Pattern(3 * kMiB + 17);
  for (const size_t announced : {size_t{0}, content.size(), size_t{5}, 100 * kMiB}) {
    ReceiveBuffer buffer;
    buffer.Start(60, announced);
    for (size_t at = 0; at < content.size(); at += 70'001) {
      ASSERT_EQ(buffer.Append(std::string_view(content).substr(at, 70'001)), Outcome::kDone);
    }
    EXPECT_EQ(buffer.view(), content) << announced;
    const HostBuffer taken = buffer.Take();
    EXPECT_EQ(std::string_view(taken.data() + 60, content.size()), content);
  }
}

TEST(ReceiveBufferTest, KeepsItsContentsBeyondThePool) {
  ReceiveBuffer buffer;
  buffer.Start(0, 0);
  const std::string piece = Pattern(kMiB);
  for (int i = 0; i < 70; ++i) ASSERT_EQ(buffer.Append(piece), Outcome::kDone);
  for (size_t i = 0; i < 70; ++i) EXPECT_EQ(buffer.view().substr(i * kMiB, kMiB), piece) << i;
}

TEST(ReceiveBufferTest, HugeAnnouncementsAllocateNothing) {
  const auto budget = Budget(100 * kMiB);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, size_t{2} << 30);
  ASSERT_EQ(buffer.Append("x"), Outcome::kDone);
  EXPECT_TRUE(HasRoom(budget, 99 * kMiB));
}

TEST(ReceiveBufferTest, AnnouncementsAllocateNothingAboveHalfOfTheBudget) {
  const auto budget = Budget(100 * kMiB);
  const base::ByteShare others = budget->Force(51 * kMiB);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, 40 * kMiB);
  ASSERT_EQ(buffer.Append("x"), Outcome::kDone);
  EXPECT_TRUE(HasRoom(budget, 48 * kMiB));
}

TEST(ReceiveBufferTest, AnExhaustedBudgetIsReported) {
  const auto budget = Budget(kMiB);
  const base::ByteShare others = budget->Force(kMiB / 2);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, 0);
  EXPECT_EQ(buffer.Append(Pattern(kMiB)), Outcome::kOverBudget);
}

TEST(ReceiveBufferTest, SmallContentsNeedNoBudget) {
  const auto budget = Budget(kMiB);
  const base::ByteShare others = budget->Force(kMiB);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, 0);
  EXPECT_EQ(buffer.Append(Pattern(ReceiveBuffer::kUncharged)), Outcome::kDone);
  EXPECT_EQ(buffer.Append("x"), Outcome::kOverBudget);
  EXPECT_EQ(buffer.view(), Pattern(ReceiveBuffer::kUncharged));
  buffer.Start(16, ReceiveBuffer::kUncharged - 16);
  EXPECT_EQ(buffer.Append(Pattern(ReceiveBuffer::kUncharged - 16)), Outcome::kDone);
}

TEST(ReceiveBufferTest, AGrowingBufferIsChargedAsAWhole) {
  const auto budget = Budget(kMiB);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, 0);
  ASSERT_EQ(buffer.Append(Pattern(3 * ReceiveBuffer::kUncharged)), Outcome::kDone);
  const HostBuffer taken = buffer.Take();
  EXPECT_FALSE(HasRoom(budget, kMiB - taken.size() + 1));
  EXPECT_TRUE(HasRoom(budget, kMiB - taken.size()));
}

TEST(ReceiveBufferTest, TheChargeLivesAsLongAsTheMemory) {
  const auto budget = Budget(kMiB);
  ReceiveBuffer buffer(budget);
  buffer.Start(0, kMiB);
  ASSERT_EQ(buffer.Append("x"), Outcome::kDone);
  HostBuffer taken = buffer.Take();
  HostBuffer moved = std::move(taken);
  EXPECT_FALSE(HasRoom(budget, 1));
  moved.Reset();
  EXPECT_TRUE(HasRoom(budget, 1));
}

TEST(ReceiveBufferTest, AnOffsetThatOverflowsIsNoMemory) {
  ReceiveBuffer buffer;
  buffer.Start(63, SIZE_MAX);
  EXPECT_EQ(buffer.Append("abc"), Outcome::kDone);
  EXPECT_EQ(buffer.view(), "abc");
}

/// Memory of which `ready` bytes at a time can be written; 0: none.
class Lender final : public BufferLender {
 public:
  Lender(std::vector<char>* memory, size_t ready, int* returned)
      : memory_(*memory), ready_(ready), returned_(*returned) {}
  ~Lender() override { ++returned_; }
  size_t Prepare(size_t begin, size_t end) noexcept override {
    EXPECT_LT(begin, end);
    EXPECT_LE(end, memory_.size());
    return std::min(ready_, end - begin);
  }

 private:
  std::vector<char>& memory_;
  const size_t ready_;
  int& returned_;
};

TEST(ReceiveBufferTest, BorrowedMemoryIsPreparedForTheBytesThatCome) {
  const std::string content = Pattern(kMiB);
  std::vector<char> memory(2 * kMiB);
  int returned = 0;
  ReceiveBuffer buffer;
  buffer.Start(0, kMiB);
  ASSERT_TRUE(buffer.Use(HostBuffer::Borrow(memory.data(), memory.size(),
                                            std::make_unique<Lender>(&memory, 1000, &returned))));
  std::span<char> room;
  ASSERT_EQ(buffer.MakeRoom(kMiB, &room), Outcome::kDone);
  EXPECT_EQ(room.data(), memory.data());
  EXPECT_EQ(room.size(), 1000u);
  ASSERT_EQ(buffer.Append(content), Outcome::kDone);
  EXPECT_EQ(buffer.view(), content);
  EXPECT_EQ(buffer.view().data(), memory.data());
  HostBuffer taken = buffer.Take();
  EXPECT_TRUE(taken.is_borrowed());
  HostBuffer moved = std::move(taken);
  EXPECT_EQ(returned, 0);
  moved.Reset();
  EXPECT_EQ(returned, 1);
}

TEST(ReceiveBufferTest, MoreThanBorrowedMemoryHoldsIsCopied) {
  const std::string content = Pattern(3 * kMiB);
  std::vector<char> memory(2 * kMiB);
  int returned = 0;
  ReceiveBuffer buffer;
  buffer.Start(0, kMiB);
  ASSERT_TRUE(buffer.Use(HostBuffer::Borrow(memory.data(), memory.size(),
                                            std::make_unique<Lender>(&memory, kMiB, &returned))));
  ASSERT_EQ(buffer.Append(content), Outcome::kDone);
  EXPECT_EQ(buffer.view(), content);
  EXPECT_EQ(returned, 1);
}

TEST(ReceiveBufferTest, BorrowedMemoryThatCannotBePreparedIsNoMemory) {
  std::vector<char> memory(kMiB);
  int returned = 0;
  ReceiveBuffer buffer;
  buffer.Start(0, kMiB);
  ASSERT_TRUE(buffer.Use(HostBuffer::Borrow(memory.data(), memory.size(),
                                            std::make_unique<Lender>(&memory, 0, &returned))));
  EXPECT_EQ(buffer.Append("x"), Outcome::kNoMemory);
}

TEST(ReceiveBufferTest, BorrowedMemoryIsCharged) {
  const auto budget = Budget(4 * kMiB);
  std::vector<char> memory(kMiB);
  int returned = 0;
  const auto borrow = [&] {
    return HostBuffer::Borrow(memory.data(), memory.size(),
                              std::make_unique<Lender>(&memory, kMiB, &returned));
  };
  ReceiveBuffer buffer(budget);
  buffer.Start(0, kMiB);
  ASSERT_TRUE(buffer.Use(borrow()));
  EXPECT_FALSE(HasRoom(budget, 3 * kMiB + 1));
  buffer.Start(0, 0);
  EXPECT_EQ(returned, 1);
  const base::ByteShare others = budget->Force(3 * kMiB);
  EXPECT_FALSE(buffer.Use(borrow())) << "the budget is short";
  EXPECT_EQ(returned, 2);
  EXPECT_TRUE(HasRoom(budget, kMiB));
}

TEST(ReceiveBufferTest, StartsAgain) {
  ReceiveBuffer buffer;
  buffer.Start(0, 0);
  ASSERT_EQ(buffer.Append("abc"), Outcome::kDone);
  buffer.Start(16, 2);
  EXPECT_EQ(buffer.size(), 0u);
  ASSERT_EQ(buffer.Append("de"), Outcome::kDone);
  EXPECT_EQ(buffer.view(), "de");
}

}  // namespace
}  // namespace nereid::memory
