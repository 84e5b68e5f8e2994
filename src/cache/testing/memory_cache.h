// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cache/cache_library.h"

namespace nereid::cache {

/// A cache plug-in that is part of the program and uses the C API as plug-ins do. It keeps
/// everything, and misbehaves on request. Instance() is the cache that was created last.
/// Thread-safe.
class MemoryCache {
 public:
  static std::unique_ptr<CacheLibrary> MakeLibrary();
  static MemoryCache& Instance();

  /// Makes later lookups and insertions fail with this text; "" ends that.
  void Fail(const std::string& text);
  /// Changes the blobs that later lookups find before the server sees them.
  void Distort(std::function<std::string(std::string)> change);
  /// Makes later lookups report success without a copy.
  void ForgetToCopy();
  /// Makes later lookups wait until Release().
  void Hold();
  void Release();

  std::map<std::string, std::string> entries();
  size_t lookups();
  size_t inserts();
  /// Waits until this number of insertions was attempted.
  void WaitForInserts(size_t count);

 private:
  friend struct MemoryCacheEntryPoints;
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::map<std::string, std::string> entries_ NEREID_GUARDED_BY(mutex_);
  std::string failure_ NEREID_GUARDED_BY(mutex_);
  std::function<std::string(std::string)> distort_ NEREID_GUARDED_BY(mutex_);
  bool forget_ NEREID_GUARDED_BY(mutex_) = false;
  bool held_ NEREID_GUARDED_BY(mutex_) = false;
  size_t lookups_ NEREID_GUARDED_BY(mutex_) = 0;
  size_t inserts_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::cache
