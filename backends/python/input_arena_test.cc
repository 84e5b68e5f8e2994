// SPDX-License-Identifier: Apache-2.0
#include "python/input_arena.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

namespace nereid::python {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class InputArenaTest : public ::testing::Test {
 protected:
  InputArenaTest() { EXPECT_EQ(InputArena::Create(&arena_).message(), ""); }

  /// Returns the memory that the file has, in bytes.
  uint64_t Reserved() const {
    struct stat status {};
    EXPECT_EQ(fstat(arena_->file(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  /// Makes the first `size` bytes of a block writable, as bytes come that nobody has announced.
  static void Fill(InputBlock* block, uint64_t size) {
    for (uint64_t at = 0; at < size;) {
      const size_t ready = block->Prepare(at, size);
      ASSERT_GT(ready, 0U);
      block->data()[at] = 'x';
      block->data()[at + ready - 1] = 'y';
      at += ready;
    }
  }

  std::shared_ptr<InputArena> arena_;
};

TEST_F(InputArenaTest, ItsSizeIsSealed) {
  const int seals = fcntl(arena_->file(), F_GET_SEALS);
  EXPECT_EQ(seals & F_SEAL_SHRINK, F_SEAL_SHRINK);
  EXPECT_EQ(seals & F_SEAL_GROW, F_SEAL_GROW);
}

TEST_F(InputArenaTest, MemoryFollowsTheBytesThatCome) {
  const auto block = arena_->Take(8 * kMiB);
  EXPECT_EQ(Reserved(), 0U);
  EXPECT_EQ(block->Prepare(0, 8 * kMiB), 64U << 10);
  EXPECT_EQ(Reserved(), 64U << 10);
  Fill(block.get(), kMiB);
  EXPECT_LE(Reserved(), 2 * kMiB);
  Fill(block.get(), 8 * kMiB);
  EXPECT_EQ(Reserved(), 8 * kMiB);
  EXPECT_EQ(block->Prepare(0, UINT64_MAX), 8 * kMiB);
  EXPECT_EQ(block->Prepare(8 * kMiB, 9 * kMiB), 0U);
}

TEST_F(InputArenaTest, TheLastFreeBlockIsUsedAgainWithItsMemory) {
  auto first = arena_->Take(kMiB);
  auto second = arena_->Take(kMiB - 1);
  char* const place = first->data();
  EXPECT_NE(place, second->data());
  Fill(first.get(), kMiB);
  first.reset();
  EXPECT_EQ(arena_->kept_bytes(), kMiB);
  const auto third = arena_->Take(kMiB / 2 + 1);
  EXPECT_EQ(third->data(), place);
  EXPECT_EQ(third->Prepare(0, kMiB), kMiB);
  EXPECT_EQ(arena_->kept_bytes(), 0U);
}

TEST_F(InputArenaTest, ABlockIsFoundByAnAddressInIt) {
  auto block = arena_->Take(kMiB);
  EXPECT_EQ(arena_->Find(block->data(), kMiB), block);
  EXPECT_EQ(arena_->Find(block->data() + kMiB - 1, 1), block);
  EXPECT_EQ(arena_->Find(block->data() + 1, kMiB), nullptr);
  EXPECT_EQ(arena_->Find(block->data() + kMiB, 1), nullptr);
  EXPECT_EQ(arena_->Find(block->data(), UINT64_MAX), nullptr);
  EXPECT_EQ(arena_->Find(nullptr, 1), nullptr);
  const char outside = 0;
  EXPECT_EQ(arena_->Find(&outside, 1), nullptr);
  const char* const place = block->data();
  block.reset();
  EXPECT_EQ(arena_->Find(place, 1), nullptr);
}

TEST_F(InputArenaTest, SizesThatItDoesNotServe) {
  EXPECT_EQ(arena_->Take(0), nullptr);
  EXPECT_EQ(arena_->Take(InputArena::kMaxBlock + 1), nullptr);
  EXPECT_EQ(arena_->Take(UINT64_MAX), nullptr);
  EXPECT_NE(arena_->Take(InputArena::kMaxBlock), nullptr);
  EXPECT_EQ(arena_->Take(1)->size(), InputArena::kMinBlock);
}

TEST_F(InputArenaTest, AFullArenaHasNoBlock) {
  std::vector<std::shared_ptr<InputBlock>> all;
  while (auto block = arena_->Take(InputArena::kMaxBlock)) all.push_back(std::move(block));
  EXPECT_EQ(all.size(), InputArena::kSize / InputArena::kMaxBlock);
  EXPECT_EQ(arena_->Take(1), nullptr);
  all.pop_back();
  EXPECT_NE(arena_->Take(InputArena::kMaxBlock), nullptr);
}

TEST_F(InputArenaTest, FreeBlocksKeepLittleMemory) {
  constexpr uint64_t kBlocks = InputArena::kMaxKept / InputArena::kMaxBlock + 2;
  std::vector<std::shared_ptr<InputBlock>> all;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    all.push_back(arena_->Take(InputArena::kMaxBlock));
    Fill(all.back().get(), InputArena::kMaxBlock);
  }
  all.clear();
  EXPECT_EQ(arena_->kept_bytes(), InputArena::kMaxKept);
  EXPECT_EQ(Reserved(), InputArena::kMaxKept);
  // Blocks of a size that is used take the memory of those that are not.
  auto small = arena_->Take(kMiB);
  Fill(small.get(), kMiB);
  small.reset();
  EXPECT_LE(arena_->kept_bytes(), InputArena::kMaxKept);
  EXPECT_EQ(Reserved(), arena_->kept_bytes());
  EXPECT_EQ(arena_->Take(kMiB)->Prepare(0, kMiB), kMiB) << "it has its memory still";
}

TEST_F(InputArenaTest, ABlockMayOutliveTheLastUserOfTheArena) {
  auto block = arena_->Take(kMiB);
  arena_.reset();
  Fill(block.get(), kMiB);
  EXPECT_EQ(block->data()[0], 'x');
}

}  // namespace
}  // namespace nereid::python
