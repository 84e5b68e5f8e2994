// SPDX-License-Identifier: Apache-2.0
#include "local/lru_store.h"

#include <gtest/gtest.h>

#include <thread>

namespace nereid::caches {
namespace {

/// Stores `size` bytes; false where there is no room or the key is there.
bool Put(LruStore& store, const std::string& key, size_t size) {
  const uint64_t charge = LruStore::Charge(key, size);
  if (!store.Reserve(charge)) return false;
  StoredBuffers buffers(1);
  buffers[0].data = std::make_unique<char[]>(size);
  buffers[0].size = size;
  return store.Insert(key, std::move(buffers), charge);
}

constexpr uint64_t Charged(uint64_t bytes) { return bytes + 1 + LruStore::kEntryOverhead; }

TEST(LruStoreTest, TheLeastRecentlyUsedMakesRoom) {
  LruStore store(3 * Charged(100));
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Put(store, key, 100));
  EXPECT_EQ(store.used(), store.capacity());
  EXPECT_TRUE(store.Touch("a"));
  ASSERT_TRUE(Put(store, "d", 100));
  EXPECT_FALSE(store.Touch("b"));
  EXPECT_TRUE(store.Touch("c"));
  EXPECT_TRUE(store.Touch("a"));
  ASSERT_TRUE(Put(store, "e", 100));
  EXPECT_FALSE(store.Touch("d"));
  EXPECT_EQ(store.entries(), 3u);
  EXPECT_EQ(store.evictions(), 2u);
}

TEST(LruStoreTest, EvictsAsManyAsItTakes) {
  LruStore store(10 * Charged(10));
  for (char key = 'a'; key < 'a' + 10; ++key) ASSERT_TRUE(Put(store, std::string(1, key), 10));
  ASSERT_TRUE(Put(store, "z", 5 * Charged(10)));
  EXPECT_EQ(store.entries(), 4u + 1u);
  EXPECT_FALSE(store.Touch("f"));
  EXPECT_TRUE(store.Touch("g"));
  EXPECT_EQ(store.used(), 4 * Charged(10) + Charged(5 * Charged(10)));
}

TEST(LruStoreTest, WhatIsLargerThanTheStoreDoesNotEmptyIt) {
  LruStore store(1000);
  ASSERT_TRUE(Put(store, "a", 100));
  EXPECT_FALSE(Put(store, "b", 1000));
  EXPECT_TRUE(store.Touch("a"));
  EXPECT_EQ(store.used(), Charged(100));
}

TEST(LruStoreTest, AKeyIsStoredOnce) {
  LruStore store(10000);
  ASSERT_TRUE(Put(store, "a", 100));
  EXPECT_FALSE(Put(store, "a", 200));
  EXPECT_EQ(store.used(), Charged(100));
  EXPECT_EQ(store.Find("a")->at(0).size, 100u);
}

TEST(LruStoreTest, ReservationsAreNotEvicted) {
  LruStore store(1000);
  ASSERT_TRUE(store.Reserve(900));
  EXPECT_FALSE(store.Reserve(200));
  store.Release(900);
  EXPECT_TRUE(store.Reserve(200));
  EXPECT_EQ(store.used(), 200u);
}

TEST(LruStoreTest, WhoReadsKeepsTheBytes) {
  LruStore store(Charged(100));
  ASSERT_TRUE(Put(store, "a", 100));
  const auto held = store.Find("a");
  held->at(0).data[99] = 'x';
  ASSERT_TRUE(Put(store, "b", 100));
  EXPECT_EQ(store.Find("a"), nullptr);
  EXPECT_EQ(held->at(0).data[99], 'x');
}

TEST(LruStoreTest, ManyThreadsNeverExceedTheCapacity) {
  LruStore store(50 * Charged(64));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 3000; ++i) {
        const std::string key = std::to_string((i * 7 + t) % 200);
        if (const auto found = store.Find(key)) {
          EXPECT_EQ(found->at(0).size, 64u);
        } else {
          Put(store, key, 64);
        }
        EXPECT_LE(store.used(), store.capacity());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t used = 0, entries = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string(i);
    if (!store.Touch(key)) continue;
    used += LruStore::Charge(key, 64);
    ++entries;
  }
  EXPECT_EQ(store.used(), used);
  EXPECT_EQ(store.entries(), entries);
}

}  // namespace
}  // namespace nereid::caches
