// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/range_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nereid::memory {
namespace {

constexpr uint64_t kUnit = RangeAllocator::kAlignment;

TEST(RangeAllocatorTest, RangesAreAlignedAndApart) {
  RangeAllocator ranges(10 * kUnit + 17);
  EXPECT_EQ(ranges.size(), 10 * kUnit);
  const auto a = ranges.Take(1), b = ranges.Take(kUnit + 1), c = ranges.Take(0);
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(*a, 0u);
  EXPECT_EQ(*b, kUnit);
  EXPECT_EQ(*c, 3 * kUnit);
  EXPECT_EQ(ranges.used(), 4 * kUnit);
  EXPECT_FALSE(ranges.Take(6 * kUnit + 1));
  EXPECT_TRUE(ranges.Take(6 * kUnit));
  EXPECT_FALSE(ranges.Take(1));
}

TEST(RangeAllocatorTest, SizesThatCannotExist) {
  RangeAllocator ranges(4 * kUnit);
  EXPECT_FALSE(ranges.Take(UINT64_MAX));
  EXPECT_FALSE(ranges.Take(UINT64_MAX - kUnit));
  EXPECT_FALSE(RangeAllocator(kUnit - 1).Take(1));
  EXPECT_FALSE(RangeAllocator(0).Take(0));
}

TEST(RangeAllocatorTest, NeighborsAreJoined) {
  RangeAllocator ranges(3 * kUnit);
  const auto a = ranges.Take(1), b = ranges.Take(1), c = ranges.Take(1);
  EXPECT_TRUE(ranges.Give(*a));
  EXPECT_TRUE(ranges.Give(*c));
  EXPECT_FALSE(ranges.Take(2 * kUnit));
  EXPECT_TRUE(ranges.Give(*b));
  EXPECT_EQ(ranges.Take(3 * kUnit), 0u);
}

TEST(RangeAllocatorTest, WhatWasNotTakenIsRefused) {
  RangeAllocator ranges(4 * kUnit);
  const auto a = ranges.Take(2 * kUnit);
  EXPECT_FALSE(ranges.Give(*a + 1));
  EXPECT_FALSE(ranges.Give(*a + kUnit));
  EXPECT_TRUE(ranges.Give(*a));
  EXPECT_FALSE(ranges.Give(*a)) << "is given back twice";
}

TEST(RangeAllocatorTest, TheSmallestRangeThatFitsIsTaken) {
  RangeAllocator ranges(16 * kUnit);
  const auto large = ranges.Take(4 * kUnit), wall = ranges.Take(1), small = ranges.Take(2 * kUnit);
  ASSERT_TRUE(ranges.Take(1)) << "keeps the last range apart";
  ASSERT_TRUE(wall);
  ranges.Give(*large);
  ranges.Give(*small);
  EXPECT_EQ(ranges.Take(2 * kUnit), *small);
}

TEST(RangeAllocatorTest, RandomUseNeverOverlapsAndLosesNothing) {
  std::mt19937 random(7);
  RangeAllocator ranges(1 << 20);
  std::map<uint64_t, uint64_t> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      auto victim = taken.begin();
      std::advance(victim, random() % taken.size());
      ASSERT_TRUE(ranges.Give(victim->first));
      taken.erase(victim);
      continue;
    }
    const uint64_t size = 1 + random() % 40'000;
    const auto begin = ranges.Take(size);
    if (!begin) continue;
    const auto next = taken.lower_bound(*begin);
    ASSERT_TRUE(next == taken.end() || *begin + size <= next->first);
    ASSERT_TRUE(next == taken.begin() ||
                std::prev(next)->first + std::prev(next)->second <= *begin);
    ASSERT_LE(*begin + size, ranges.size());
    taken.emplace(*begin, size);
  }
  for (const auto& [begin, size] : taken) ASSERT_TRUE(ranges.Give(begin));
  EXPECT_EQ(ranges.used(), 0u);
  EXPECT_EQ(ranges.Take(1 << 20), 0u);
}

}  // namespace
}  // namespace nereid::memory
