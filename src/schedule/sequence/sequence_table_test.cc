// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_table.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "base/testing/failing_allocation.h"

namespace nereid::schedule {
namespace {

using base::testing::FailingAllocation;

TEST(SequenceTableTest, SlotsAreGivenInOrderOfNumberAndThenOfInstance) {
  SequenceTable table;
  table.AddInstance(1, 2);
  table.AddInstance(2, 2);
  const auto begin = [&](uint64_t id) -> Sequence& { return table.Begin(id, false, 0); };
  Sequence& first = begin(1);
  EXPECT_EQ(first.slot, 0u);
  EXPECT_EQ(first.instance, 1u);
  EXPECT_EQ(begin(2).instance, 2u);
  Sequence& third = begin(3);
  EXPECT_EQ(third.slot, 1u);
  EXPECT_EQ(third.instance, 1u);
  EXPECT_EQ(begin(4).instance, 2u);
  EXPECT_EQ(table.free_slots(), 0u);
  EXPECT_FALSE(begin(5).has_slot());
  table.Remove(third);
  EXPECT_EQ(table.free_slots(), 1u);
  Sequence* const taken = table.TakeFromBacklog();
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->slot, 1u);
  EXPECT_EQ(taken->instance, 1u);
  EXPECT_EQ(taken->phase, SequencePhase::kPending);
  EXPECT_EQ(table.TakeFromBacklog(), nullptr);
}

TEST(SequenceTableTest, ASuccessorIsUnblockedByTheEndOfItsPredecessor) {
  SequenceTable table;
  table.AddInstance(1, 3);
  Sequence& first = table.Begin(std::string("id"), false, 0);
  first.intake = SequenceIntake::kClosed;
  EXPECT_EQ(table.FindOpen(std::string("id")), nullptr);
  EXPECT_TRUE(table.IsLive(std::string("id")));
  Sequence& second = table.Begin(std::string("id"), false, 0);
  EXPECT_EQ(second.predecessor, &first);
  EXPECT_EQ(table.FindOpen(std::string("id")), &second);
  EXPECT_EQ(table.Remove(first), &second);
  EXPECT_EQ(second.predecessor, nullptr);
  EXPECT_EQ(table.Remove(second), nullptr);
  EXPECT_FALSE(table.IsLive(std::string("id")));
}

TEST(SequenceTableTest, ABeginWithoutMemoryChangesNothing) {
  const request::CorrelationId id = std::string("an id that is too long for the string itself");
  SequenceTable table;
  table.AddInstance(1, 1);
  bool failed = true;
  for (uint64_t failing = 0; failed; ++failing) {
    const size_t slots = table.free_slots();
    Sequence* begun = nullptr;
    {
      const FailingAllocation failure(failing, FailingAllocation::Extent::kOne);
      try {
        begun = &table.Begin(id, false, 0);
      } catch (const std::bad_alloc&) {
      }
      failed = failure.has_failed();
    }
    EXPECT_EQ(begun == nullptr, failed);
    EXPECT_EQ(table.IsLive(id), !failed);
    EXPECT_EQ(table.free_slots(), failed ? slots : slots - 1);
    EXPECT_EQ(table.backlog().size(), 0u);
  }
}

}  // namespace
}  // namespace nereid::schedule
