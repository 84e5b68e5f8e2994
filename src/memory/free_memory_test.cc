// SPDX-License-Identifier: Apache-2.0
#include "memory/free_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace nereid::memory {
namespace {

size_t ResidentBytes() {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*u %lu", &pages) != 1) ADD_FAILURE();
  if (file != nullptr) std::fclose(file);
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

using Block = std::unique_ptr<char[]>;

/// 32 MiB, in the arena of a thread, with a small block behind each large one.
void Fill(std::vector<Block>* large, std::vector<Block>* small) {
  constexpr size_t kLarge = size_t{32} << 10;
  for (int i = 0; i < 1024; ++i) {
    large->push_back(std::make_unique<char[]>(kLarge));
    std::memset(large->back().get(), 1, kLarge);
    small->push_back(std::make_unique<char[]>(64));
  }
}

TEST(ReturnFreeMemory, GivesBackWhatLiesBetweenBlocksInUse) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  std::vector<Block> large, small;
  std::thread(Fill, &large, &small).join();
  large.clear();
  const size_t before = ResidentBytes();
  ReturnFreeMemory();
  EXPECT_LT(ResidentBytes() + (size_t{16} << 20), before);
}

}  // namespace
}  // namespace nereid::memory
