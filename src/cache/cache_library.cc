// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_library.h"

#include "abi/plugin_library.h"
#include "base/files.h"

namespace nereid::cache {

using base::Status;

base::Result<std::unique_ptr<CacheLibrary>> CacheLibrary::Open(const std::string& directory,
                                                               const std::string& name) {
  if (!base::IsPlainName(name)) {
    return Status::InvalidArgument("response cache '" + name +
                                   "': the name of a cache must be a plain name without '/'");
  }
  const std::string folder = base::JoinPath(directory, name);
  const std::string file = "libtritoncache_" + name + ".so";
  const std::string path = base::JoinPath(folder, file);
  if (!base::PathExists(path)) {
    return Status::NotFound("unable to find '" + file + "' for cache. Searched: " + folder +
                            "; see --cache-directory");
  }
  NEREID_ASSIGN_OR_RETURN(auto shared, abi::OpenPlugin(path));
  CacheEntryPoints entry;
  const char* missing = nullptr;
  const auto find = [&](auto& pointer, const char* symbol) {
    shared->Find(symbol, &pointer);
    if (pointer == nullptr) missing = symbol;
  };
  find(entry.initialize, "TRITONCACHE_CacheInitialize");
  find(entry.finalize, "TRITONCACHE_CacheFinalize");
  find(entry.lookup, "TRITONCACHE_CacheLookup");
  find(entry.insert, "TRITONCACHE_CacheInsert");
  if (missing != nullptr) {
    return Status::NotFound("unable to find required entrypoint '" + std::string(missing) +
                            "' in shared library " + path);
  }
  std::unique_ptr<CacheLibrary> library(new CacheLibrary());
  library->path_ = path;
  library->library_ = std::move(shared);
  library->entry_points_ = entry;
  return library;
}

std::unique_ptr<CacheLibrary> CacheLibrary::FromEntryPoints(std::string path,
                                                            CacheEntryPoints entry_points) {
  std::unique_ptr<CacheLibrary> library(new CacheLibrary());
  library->path_ = std::move(path);
  library->entry_points_ = entry_points;
  return library;
}

}  // namespace nereid::cache
