// SPDX-License-Identifier: Apache-2.0
// The local cache, which keeps responses in the memory of the server.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cache_plugin.h"
#include "entry_buffers.h"
#include "local/cache_metrics.h"
#include "local/lru_store.h"
#include "nereid/backend/error.h"
#include "nereid/backend/log.h"
#include "settings.h"
#include "triton/core/tritoncache.h"

namespace nereid::caches {
namespace {

constexpr const char* kSettings[] = {"size"};

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

Error AlreadyExists(const char* key) {
  return {TRITONSERVER_ERROR_ALREADY_EXISTS, "key '" + std::string(key) + "' already exists"};
}

class LocalCache {
 public:
  static Error Create(const char* config, std::unique_ptr<LocalCache>* cache) {
    Settings settings;
    NEREID_BACKEND_TRY(ReadSettings(config, &settings));
    NEREID_BACKEND_TRY(CheckNames(settings, kSettings));
    uint64_t size = 0;
    NEREID_BACKEND_TRY(ReadNumber(settings, "size", 1, INT64_MAX, &size));
    if (size == 0) {
      return Error::InvalidArgument(
          "the local cache needs its size in bytes: --cache-config=local,size=<bytes>");
    }
    if (size < LruStore::kUsefulCapacity) {
      NEREID_BACKEND_LOG(WARN, "--cache-config=local,size=" + std::to_string(size) +
                                   ": hardly a response fits into so few bytes. Use more, such as "
                                   "1048576");
    }
    *cache = std::make_unique<LocalCache>(size);
    return {};
  }

  explicit LocalCache(uint64_t size) : store_(size) {}

  Error Lookup(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    const uint64_t start = NowNs();
    Error found = Find(key, entry, allocator);
    metrics_.Lookup(found.ok(), NowNs() - start);
    return found;
  }

  Error Insert(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    const uint64_t start = NowNs();
    Error stored = Store(key, entry, allocator);
    const double capacity = static_cast<double>(store_.capacity());
    metrics_.Insertion(static_cast<double>(store_.used()) / capacity, store_.entries(),
                       store_.evictions(), NowNs() - start);
    return stored;
  }

 private:
  Error Find(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    // The pointer keeps the buffers alive until TRITONCACHE_Copy returns, even if the entry is
    // evicted.
    const auto stored = store_.Find(key);
    if (stored == nullptr) {
      return {TRITONSERVER_ERROR_NOT_FOUND, "key '" + std::string(key) + "' is not in the cache"};
    }
    BufferDescription description;
    NEREID_BACKEND_TRY(description.Make());
    for (const StoredBuffer& buffer : *stored) {
      NEREID_BACKEND_TRY(description.SetHostBytes(buffer.size));
      NEREID_BACKEND_TRY(
          TRITONCACHE_CacheEntryAddBuffer(entry, buffer.data.get(), description.get()));
    }
    return Error(TRITONCACHE_Copy(allocator, entry));
  }

  Error Store(const char* key, TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator) {
    if (store_.Touch(key)) return AlreadyExists(key);
    StoredBuffers buffers;
    uint64_t bytes = 0;
    NEREID_BACKEND_TRY(ReadSizes(entry, &buffers, &bytes));
    const uint64_t charge = LruStore::Charge(key, bytes);
    if (charge > store_.capacity() || charge < bytes) {
      return Error::InvalidArgument(
          "Requested byte_size: " + std::to_string(charge) +
          " is greater than total cache size: " + std::to_string(store_.capacity()));
    }
    if (!store_.Reserve(charge)) {
      return {TRITONSERVER_ERROR_UNAVAILABLE, "all of the cache is being written by others"};
    }
    Error filled = backend::Catching([&] { return FillBuffers(entry, allocator, &buffers); });
    if (!filled.ok()) {
      store_.Release(charge);
      return filled;
    }
    return store_.Insert(key, std::move(buffers), charge) ? Error() : AlreadyExists(key);
  }

  LruStore store_;
  CacheMetrics metrics_;
};

}  // namespace
}  // namespace nereid::caches

NEREID_CACHE_PLUGIN(nereid::caches::LocalCache);
