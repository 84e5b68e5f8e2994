// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "entry_buffers.h"

namespace nereid::caches {

/// Entries under keys, in a fixed number of bytes; the least recently used one makes room. An entry
/// counts with the bytes of its buffers, its key and kEntryOverhead for the bookkeeping, so the
/// bound is one of memory. The order of use is one for the whole store, although the keys are
/// spread over shards whose locks are held for the time of a list operation only.
///
/// Thread-safe. Whoever holds an entry keeps its bytes, also after its eviction: until then memory
/// can exceed the bound by what is being read.
class LruStore {
 public:
  static constexpr uint64_t kEntryOverhead = 256;
  /// Less than this could not hold anything of use.
  static constexpr uint64_t kLeastCapacity = 1024;

  explicit LruStore(uint64_t capacity) : capacity_(capacity) {}
  LruStore(const LruStore&) = delete;
  LruStore& operator=(const LruStore&) = delete;

  /// What an entry counts with.
  static uint64_t Charge(std::string_view key, uint64_t bytes) {
    return bytes + key.size() + kEntryOverhead;
  }

  /// The entry, which becomes the most recently used one; null if there is none.
  std::shared_ptr<const StoredBuffers> Find(std::string_view key);

  /// Whether the key is stored; it then becomes the most recently used one.
  bool Touch(std::string_view key) { return Find(key) != nullptr; }

  /// Sets `charge` bytes aside, for Insert or Release, evicting what stands in the way. False if
  /// they cannot be had: more than the capacity, or all of it is set aside by others.
  bool Reserve(uint64_t charge);
  void Release(uint64_t charge) { used_.fetch_sub(charge, std::memory_order_relaxed); }

  /// Stores an entry for which `charge` was reserved, and takes the reservation over. False if the
  /// key is stored already: nothing changes, and the reservation is released.
  bool Insert(std::string_view key, StoredBuffers buffers, uint64_t charge);

  uint64_t capacity() const { return capacity_; }
  /// Bytes of entries and reservations.
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;
  static constexpr uint64_t kEmpty = UINT64_MAX;

  struct Entry {
    std::string key;
    std::shared_ptr<const StoredBuffers> buffers;
    uint64_t charge = 0;
    uint64_t used_at = 0;  // of ticks_
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::list<Entry> entries;  // guarded by mutex; the most recently used one first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key;  // guarded by mutex
    std::atomic<uint64_t> oldest{kEmpty};  // used_at of the last entry; written under mutex
  };

  Shard& ShardOf(std::string_view key) {
    return shards_[std::hash<std::string_view>{}(key) % kShards];
  }
  uint64_t Tick() { return ticks_.fetch_add(1, std::memory_order_relaxed); }
  /// Evicts the least recently used entry of all; false if there is none.
  bool EvictOldest();
  static void NoteOldest(Shard& shard);

  const uint64_t capacity_;
  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> ticks_{0};
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> evictions_{0};
};

}  // namespace nereid::caches
