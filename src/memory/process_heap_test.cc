// SPDX-License-Identifier: Apache-2.0
#include "memory/process_heap.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
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

/// Allocates 32 MiB in the arena of a thread, with a small block after each large one.
void Fill(std::vector<Block>* large, std::vector<Block>* small) {
  constexpr size_t kLarge = size_t{32} << 10;
  for (int i = 0; i < 1024; ++i) {
    large->push_back(std::make_unique<char[]>(kLarge));
    std::memset(large->back().get(), 1, kLarge);
    small->push_back(std::make_unique<char[]>(64));
  }
}

TEST(ReturnFreeMemory, ReturnsMemoryBetweenUsedBlocks) {
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

/// Returns the number of arenas that malloc_info reports.
size_t CountArenas() {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  malloc_info(0, file);
  std::fclose(file);
  size_t count = 0;
  for (const char* at = text; (at = std::strstr(at, "<heap nr=")) != nullptr; ++at) ++count;
  std::free(text);
  return count;
}

/// Makes twelve threads allocate at the same time.
size_t ArenasOfManyThreads() {
  std::barrier together(12);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      const auto block = std::make_unique<char[]>(5000);
      together.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return CountArenas();
}

/// Runs in a new process, which has no arenas. Exits with 0 if `met` holds.
template <typename Met>
void ExpectInAChild(const Met& met) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(met() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(BoundHeapArenas, OneForEachCpu) {
  ExpectInAChild([] {
    BoundHeapArenas(3);
    return ArenasOfManyThreads() <= 3;
  });
}

TEST(BoundHeapArenas, TheEnvironmentDecides) {
  ExpectInAChild([] {
    setenv("MALLOC_ARENA_MAX", "12", 1);
    BoundHeapArenas(2);
    return ArenasOfManyThreads() > 3;
  });
  ExpectInAChild([] {
    setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=12", 1);
    BoundHeapArenas(2);
    return ArenasOfManyThreads() > 3;
  });
}

}  // namespace
}  // namespace nereid::memory
