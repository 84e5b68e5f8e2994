// SPDX-License-Identifier: Apache-2.0
#include "local/lru_store.h"

#include <algorithm>
#include <utility>

namespace nereid::caches {

void LruStore::NoteOldest(Shard& shard) {
  shard.oldest.store(shard.entries.empty() ? kEmpty : shard.entries.back().used_at,
                     std::memory_order_relaxed);
}

std::shared_ptr<const StoredBuffers> LruStore::Find(std::string_view key) {
  Shard& shard = ShardOf(key);
  base::MutexLock lock(shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  const auto entry = found->second;
  entry->used_at = Tick();
  shard.entries.splice(shard.entries.begin(), shard.entries, entry);
  NoteOldest(shard);
  return entry->buffers;
}

bool LruStore::Reserve(uint64_t charge) {
  if (charge > capacity_) return false;
  uint64_t used = used_.load(std::memory_order_relaxed);
  for (;;) {
    // Written this way because used + charge could overflow. The subtraction cannot: charge is at
    // most capacity_.
    if (used <= capacity_ - charge) {
      if (used_.compare_exchange_weak(used, used + charge, std::memory_order_relaxed)) return true;
      continue;
    }
    if (!EvictOldest()) return false;
    used = used_.load(std::memory_order_relaxed);
  }
}

bool LruStore::EvictOldest() {
  std::list<Entry> evicted;  // its memory is freed after the lock is released
  while (evicted.empty()) {
    // The shards are compared without their locks, so the choice may be slightly out of date. The
    // entry that is evicted is then nearly the oldest one.
    const auto oldest =
        std::min_element(shards_.begin(), shards_.end(), [](const Shard& a, const Shard& b) {
          return a.oldest.load(std::memory_order_relaxed) <
                 b.oldest.load(std::memory_order_relaxed);
        });
    if (oldest->oldest.load(std::memory_order_relaxed) == kEmpty) return false;
    base::MutexLock lock(oldest->mutex);
    if (oldest->entries.empty()) continue;  // another thread has evicted the entry
    oldest->by_key.erase(oldest->entries.back().key);
    evicted.splice(evicted.begin(), oldest->entries, std::prev(oldest->entries.end()));
    NoteOldest(*oldest);
  }
  entries_.fetch_sub(1, std::memory_order_relaxed);
  evictions_.fetch_add(1, std::memory_order_relaxed);
  Release(evicted.front().charge);
  return true;
}

bool LruStore::Insert(std::string_view key, StoredBuffers buffers, uint64_t charge) {
  // The entry is created before the lock is taken, and a duplicate is destroyed after it is
  // released.
  std::list<Entry> made;
  made.push_back({std::string(key), std::make_shared<const StoredBuffers>(std::move(buffers)),
                  charge, Tick()});
  Shard& shard = ShardOf(key);
  {
    base::MutexLock lock(shard.mutex);
    // The key of the map is a view of the entry's own string. It stays valid because list nodes do
    // not move, also not when they are spliced to another list.
    if (shard.by_key.try_emplace(made.front().key, made.begin()).second) {
      shard.entries.splice(shard.entries.begin(), made);
      NoteOldest(shard);
      entries_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  Release(charge);
  return false;
}

}  // namespace nereid::caches
