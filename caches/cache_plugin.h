// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "nereid/backend/error.h"
#include "triton/core/tritoncache.h"

namespace nereid::caches {

/// The functions of the cache API for a class
///
///   class Cache {
///     static Error Create(const char* config, std::unique_ptr<Cache>* cache);  // settings as JSON
///     Error Lookup(const char* key, TRITONCACHE_CacheEntry*, TRITONCACHE_Allocator*);
///     Error Insert(const char* key, TRITONCACHE_CacheEntry*, TRITONCACHE_Allocator*);
///   };
///
/// Lookup and Insert are called by several threads at the same time. Exceptions become errors.
template <typename Cache>
struct CacheFunctions {
  static TRITONSERVER_Error* Initialize(TRITONCACHE_Cache** cache, const char* config) {
    return backend::EntryPoint([&]() -> backend::Error {
      std::unique_ptr<Cache> made;
      NEREID_BACKEND_TRY(Cache::Create(config, &made));
      *cache = reinterpret_cast<TRITONCACHE_Cache*>(made.release());
      return {};
    });
  }

  static TRITONSERVER_Error* Finalize(TRITONCACHE_Cache* cache) {
    return backend::EntryPoint([&] {
      delete From(cache);
      return backend::Error();
    });
  }

  static TRITONSERVER_Error* Lookup(TRITONCACHE_Cache* cache, const char* key,
                                    TRITONCACHE_CacheEntry* entry,
                                    TRITONCACHE_Allocator* allocator) {
    return backend::EntryPoint([&] { return From(cache)->Lookup(key, entry, allocator); });
  }

  static TRITONSERVER_Error* Insert(TRITONCACHE_Cache* cache, const char* key,
                                    TRITONCACHE_CacheEntry* entry,
                                    TRITONCACHE_Allocator* allocator) {
    return backend::EntryPoint([&] { return From(cache)->Insert(key, entry, allocator); });
  }

 private:
  static Cache* From(TRITONCACHE_Cache* cache) { return reinterpret_cast<Cache*>(cache); }
};

}  // namespace nereid::caches

/// Defines the entry points of a plug-in. Used once in each plug-in, outside of any namespace.
#define NEREID_CACHE_PLUGIN(Cache)                                                             \
  using NereidCache = nereid::caches::CacheFunctions<Cache>;                                   \
  extern "C" {                                                                                 \
  TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache, \
                                                                    const char* config) {      \
    return NereidCache::Initialize(cache, config);                                             \
  }                                                                                            \
  TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache) {  \
    return NereidCache::Finalize(cache);                                                       \
  }                                                                                            \
  TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheLookup(                               \
      TRITONCACHE_Cache* cache, const char* key, TRITONCACHE_CacheEntry* entry,                \
      TRITONCACHE_Allocator* allocator) {                                                      \
    return NereidCache::Lookup(cache, key, entry, allocator);                                  \
  }                                                                                            \
  TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInsert(                               \
      TRITONCACHE_Cache* cache, const char* key, TRITONCACHE_CacheEntry* entry,                \
      TRITONCACHE_Allocator* allocator) {                                                      \
    return NereidCache::Insert(cache, key, entry, allocator);                                  \
  }                                                                                            \
  }                                                                                            \
  static_assert(true, "takes the semicolon")
