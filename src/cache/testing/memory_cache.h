// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "cache/cache_library.h"

namespace nereid::cache {

/// A cache plug-in in the program, written against the C API as plug-ins are, that keeps everything
/// and misbehaves when told to. The cache made last is Instance(). Thread-safe.
class MemoryCache {
 public:
  static std::unique_ptr<CacheLibrary> MakeLibrary();
  static MemoryCache& Instance();

  /// From now on lookups and insertions fail with this text; "" ends that.
  void Fail(const std::string& text);
  /// From now on found blobs pass through `change` before the server sees them.
  void Distort(std::function<std::string(std::string)> change);
  /// From now on lookups report success without a copy.
  void ForgetToCopy();
  /// From now on lookups wait, until Release().
  void Hold();
  void Release();

  std::map<std::string, std::string> entries();
  size_t lookups();
  size_t inserts();
  /// Blocks until that many insertions have been tried.
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
