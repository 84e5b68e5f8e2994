// SPDX-License-Identifier: Apache-2.0
#include "cache/testing/memory_cache.h"

#include <atomic>

#include "triton/core/tritoncache.h"

namespace nereid::cache {
namespace {

std::atomic<MemoryCache*> last{nullptr};

TRITONSERVER_Error* Fail(TRITONSERVER_Error_Code code, const std::string& text) {
  return TRITONSERVER_ErrorNew(code, text.c_str());
}

/// Deletes the attributes when it goes out of scope.
struct Attributes {
  Attributes() { TRITONSERVER_BufferAttributesNew(&value); }
  ~Attributes() { TRITONSERVER_BufferAttributesDelete(value); }
  TRITONSERVER_BufferAttributes* value = nullptr;
};

}  // namespace

struct MemoryCacheEntryPoints {
  static MemoryCache& From(TRITONCACHE_Cache* cache) {
    return *reinterpret_cast<MemoryCache*>(cache);
  }

  static TRITONSERVER_Error* Initialize(TRITONCACHE_Cache** cache, const char* config) {
    if (std::string(config).find("fail") != std::string::npos) {
      return Fail(TRITONSERVER_ERROR_INVALID_ARG, "told to fail");
    }
    last = new MemoryCache();
    *cache = reinterpret_cast<TRITONCACHE_Cache*>(last.load());
    return nullptr;
  }

  static TRITONSERVER_Error* Finalize(TRITONCACHE_Cache* cache) {
    delete &From(cache);
    return nullptr;
  }

  static TRITONSERVER_Error* Lookup(TRITONCACHE_Cache* cache, const char* key,
                                    TRITONCACHE_CacheEntry* entry,
                                    TRITONCACHE_Allocator* allocator) {
    MemoryCache& self = From(cache);
    std::string blob;
    {
      base::MutexLock lock(self.mutex_);
      ++self.lookups_;
      self.changed_.NotifyAll();
      while (self.held_) self.changed_.Wait(lock);
      if (!self.failure_.empty()) return Fail(TRITONSERVER_ERROR_UNAVAILABLE, self.failure_);
      if (self.forget_) return nullptr;
      const auto found = self.entries_.find(key);
      if (found == self.entries_.end()) return Fail(TRITONSERVER_ERROR_NOT_FOUND, "no such key");
      blob = self.distort_ ? self.distort_(found->second) : found->second;
    }
    Attributes attributes;
    TRITONSERVER_BufferAttributesSetByteSize(attributes.value, blob.size());
    TRITONSERVER_Error* error =
        TRITONCACHE_CacheEntryAddBuffer(entry, blob.data(), attributes.value);
    return error != nullptr ? error : TRITONCACHE_Copy(allocator, entry);
  }

  static TRITONSERVER_Error* Insert(TRITONCACHE_Cache* cache, const char* key,
                                    TRITONCACHE_CacheEntry* entry,
                                    TRITONCACHE_Allocator* allocator) {
    MemoryCache& self = From(cache);
    Attributes attributes;
    void* base = nullptr;
    TRITONCACHE_CacheEntryGetBuffer(entry, 0, &base, attributes.value);
    size_t size = 0;
    TRITONSERVER_BufferAttributesByteSize(attributes.value, &size);
    std::string blob(size, '\0');
    TRITONCACHE_CacheEntrySetBuffer(entry, 0, blob.data(), nullptr);
    TRITONSERVER_Error* error = TRITONCACHE_Copy(allocator, entry);
    const base::MutexLock lock(self.mutex_);
    ++self.inserts_;
    self.changed_.NotifyAll();
    if (error != nullptr) return error;
    if (!self.failure_.empty()) return Fail(TRITONSERVER_ERROR_UNAVAILABLE, self.failure_);
    if (self.entries_.try_emplace(key, std::move(blob)).second) return nullptr;
    return Fail(TRITONSERVER_ERROR_ALREADY_EXISTS, "key exists");
  }
};

std::unique_ptr<CacheLibrary> MemoryCache::MakeLibrary() {
  using Points = MemoryCacheEntryPoints;
  return CacheLibrary::FromEntryPoints(
      "(built in)", {Points::Initialize, Points::Finalize, Points::Lookup, Points::Insert});
}

MemoryCache& MemoryCache::Instance() { return *last; }

void MemoryCache::Fail(const std::string& text) {
  const base::MutexLock lock(mutex_);
  failure_ = text;
}

void MemoryCache::Distort(std::function<std::string(std::string)> change) {
  const base::MutexLock lock(mutex_);
  distort_ = std::move(change);
}

void MemoryCache::ForgetToCopy() {
  const base::MutexLock lock(mutex_);
  forget_ = true;
}

void MemoryCache::Hold() {
  const base::MutexLock lock(mutex_);
  held_ = true;
}

void MemoryCache::Release() {
  const base::MutexLock lock(mutex_);
  held_ = false;
  changed_.NotifyAll();
}

std::map<std::string, std::string> MemoryCache::entries() {
  const base::MutexLock lock(mutex_);
  return entries_;
}

size_t MemoryCache::lookups() {
  const base::MutexLock lock(mutex_);
  return lookups_;
}

size_t MemoryCache::inserts() {
  const base::MutexLock lock(mutex_);
  return inserts_;
}

void MemoryCache::WaitForInserts(size_t count) {
  base::MutexLock lock(mutex_);
  while (inserts_ < count) changed_.Wait(lock);
}

}  // namespace nereid::cache
