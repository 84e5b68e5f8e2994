// SPDX-License-Identifier: Apache-2.0
// The entry points of the local cache.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "entry_buffers.h"
#include "local/cache_metrics.h"
#include "local/lru_store.h"
#include "nereid/backend/error.h"
#include "settings.h"
#include "triton/core/tritoncache.h"

namespace {

using nereid::backend::EntryPoint;
using nereid::caches::BufferDescription;
using nereid::caches::CacheMetrics;
using nereid::caches::Error;
using nereid::caches::LruStore;
using nereid::caches::Settings;
using nereid::caches::StoredBuffer;
using nereid::caches::StoredBuffers;

constexpr const char* kSettings[] = {"size"};

struct LocalCache {
  explicit LocalCache(uint64_t size) : store(size) {}
  LruStore store;
  CacheMetrics metrics;
};

LocalCache& From(TRITONCACHE_Cache* cache) { return *reinterpret_cast<LocalCache*>(cache); }

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

Error AlreadyExists(const char* key) {
  return {TRITONSERVER_ERROR_ALREADY_EXISTS, "key '" + std::string(key) + "' already exists"};
}

Error Insert(LocalCache& cache, const char* key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  if (cache.store.Touch(key)) return AlreadyExists(key);
  StoredBuffers buffers;
  uint64_t bytes = 0;
  NEREID_BACKEND_TRY(ReadSizes(entry, &buffers, &bytes));
  const uint64_t charge = LruStore::Charge(key, bytes);
  if (charge > cache.store.capacity() || charge < bytes) {
    return Error::InvalidArgument(
        "Requested byte_size: " + std::to_string(charge) +
        " is greater than total cache size: " + std::to_string(cache.store.capacity()));
  }
  if (!cache.store.Reserve(charge)) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, "all of the cache is being written by others"};
  }
  Error filled = nereid::backend::Catching([&] { return FillBuffers(entry, allocator, &buffers); });
  if (!filled.ok()) {
    cache.store.Release(charge);
    return filled;
  }
  return cache.store.Insert(key, std::move(buffers), charge) ? Error() : AlreadyExists(key);
}

Error Lookup(LocalCache& cache, const char* key, TRITONCACHE_CacheEntry* entry,
             TRITONCACHE_Allocator* allocator) {
  // The pointer keeps the buffers alive until TRITONCACHE_Copy returns, even if the entry is
  // evicted.
  const auto stored = cache.store.Find(key);
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

}  // namespace

extern "C" {

TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache,
                                                                  const char* config) {
  return EntryPoint([&]() -> Error {
    Settings settings;
    NEREID_BACKEND_TRY(nereid::caches::ReadSettings(config, &settings));
    NEREID_BACKEND_TRY(nereid::caches::CheckNames(settings, kSettings));
    uint64_t size = 0;
    NEREID_BACKEND_TRY(
        nereid::caches::ReadNumber(settings, "size", LruStore::kLeastCapacity, INT64_MAX, &size));
    if (size == 0) {
      return Error::InvalidArgument(
          "the local cache needs its size in bytes: --cache-config=local,size=<bytes>");
    }
    *cache = reinterpret_cast<TRITONCACHE_Cache*>(new LocalCache(size));
    return {};
  });
}

TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {
  delete reinterpret_cast<LocalCache*>(cache);
  return nullptr;
}

TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator) {
  return EntryPoint([&] {
    LocalCache& local = From(cache);
    const uint64_t start = NowNs();
    Error found = Lookup(local, key, entry, allocator);
    local.metrics.Lookup(found.ok(), NowNs() - start);
    return found;
  });
}

TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator) {
  return EntryPoint([&] {
    LocalCache& local = From(cache);
    const uint64_t start = NowNs();
    Error inserted = Insert(local, key, entry, allocator);
    const double capacity = static_cast<double>(local.store.capacity());
    local.metrics.Insertion(static_cast<double>(local.store.used()) / capacity,
                            local.store.entries(), local.store.evictions(), NowNs() - start);
    return inserted;
  });
}

}  // extern "C"
