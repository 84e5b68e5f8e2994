// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "entry_buffers.h"

namespace nereid::caches {

/// A key-value store with a limit on its size in bytes. The least recently used entries are evicted
/// to make room. The charge of an entry includes its buffers, its key and kEntryOverhead for the
/// bookkeeping, so the limit is one of memory. Keys are spread over shards, whose locks are held
/// only during an operation on the shard's list, but the order of use is that of the whole store.
///
/// Thread-safe. No thread holds two shard locks at once. A caller that holds an entry keeps its
/// memory, also after the entry is evicted. Memory can therefore exceed the limit by the entries
/// that are being read.
class LruStore {
 public:
  static constexpr uint64_t kEntryOverhead = 256;
  /// A smaller store can hardly hold an entry: each has kEntryOverhead and a key.
  static constexpr uint64_t kUsefulCapacity = 1024;

  explicit LruStore(uint64_t capacity) : capacity_(capacity) {}
  LruStore(const LruStore&) = delete;
  LruStore& operator=(const LruStore&) = delete;

  /// Returns the charge of an entry, in bytes.
  static uint64_t Charge(std::string_view key, uint64_t bytes) {
    return bytes + key.size() + kEntryOverhead;
  }

  /// Returns the entry, which becomes the most recently used one; null if there is none.
  std::shared_ptr<const StoredBuffers> Find(std::string_view key);

  /// Returns whether the key is stored, and makes it the most recently used one.
  bool Touch(std::string_view key) { return Find(key) != nullptr; }

  /// Reserves `charge` bytes, to be used with Insert or given back with Release. Evicts entries if
  /// necessary. Returns false if `charge` is above the capacity, or if other reservations take the
  /// room.
  bool Reserve(uint64_t charge);
  void Release(uint64_t charge) { used_.fetch_sub(charge, std::memory_order_relaxed); }

  /// Stores an entry for which `charge` was reserved; the reservation becomes the entry's charge.
  /// Returns false if the key is already stored; the store is then unchanged and the reservation is
  /// released.
  bool Insert(std::string_view key, StoredBuffers buffers, uint64_t charge);

  uint64_t capacity() const { return capacity_; }
  /// Returns the bytes of entries and reservations.
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
    uint64_t used_at = 0;  // value of ticks_ at the last use
  };
  struct alignas(64) Shard {
    base::Mutex mutex;
    /// The most recently used entry is the first.
    std::list<Entry> entries NEREID_GUARDED_BY(mutex);
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key
        NEREID_GUARDED_BY(mutex);
    std::atomic<uint64_t> oldest{kEmpty};  // used_at of the last entry; written with mutex held
  };

  Shard& ShardOf(std::string_view key) {
    return shards_[std::hash<std::string_view>{}(key) % kShards];
  }
  uint64_t Tick() { return ticks_.fetch_add(1, std::memory_order_relaxed); }
  /// Evicts the least recently used entry of all shards. Returns false if there is no entry.
  bool EvictOldest();
  /// Updates shard.oldest.
  static void NoteOldest(Shard& shard) NEREID_REQUIRES(shard.mutex);

  const uint64_t capacity_;
  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> ticks_{0};
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> evictions_{0};
};

}  // namespace nereid::caches
