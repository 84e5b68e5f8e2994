// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_library.h"
#include "triton/core/tritoncache.h"

namespace nereid::cache {

/// The entry points of a cache library; none is null.
struct CacheEntryPoints {
  decltype(&TRITONCACHE_CacheInitialize) initialize = nullptr;
  decltype(&TRITONCACHE_CacheFinalize) finalize = nullptr;
  decltype(&TRITONCACHE_CacheLookup) lookup = nullptr;
  decltype(&TRITONCACHE_CacheInsert) insert = nullptr;
};

/// A cache's shared library with its entry points.
class CacheLibrary {
 public:
  /// Opens <directory>/<name>/libtritoncache_<name>.so. Returns INVALID_ARGUMENT if the name is not
  /// a plain file name, and NOT_FOUND if the file does not exist, cannot be opened or lacks an
  /// entry point.
  static base::Result<std::unique_ptr<CacheLibrary>> Open(const std::string& directory,
                                                          const std::string& name);

  /// Returns a library that is linked into the program; for tests.
  static std::unique_ptr<CacheLibrary> FromEntryPoints(std::string path,
                                                       CacheEntryPoints entry_points);

  const std::string& path() const { return path_; }
  const CacheEntryPoints& entry_points() const { return entry_points_; }

 private:
  CacheLibrary() = default;
  std::string path_;
  std::unique_ptr<base::SharedLibrary> library_;
  CacheEntryPoints entry_points_;
};

}  // namespace nereid::cache
