// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/blocking_workers.h"
#include "base/result.h"
#include "cache/cache_library.h"

namespace nereid::cache {

/// The server's response cache: a plug-in that stores blobs by key, and threads that wait for it if
/// it is slow. Callers define the content of blobs. Thread-safe. Must outlive the models that use
/// it.
class ResponseCache {
 public:
  /// Limits of the work that waits for a plug-in that blocks. Work beyond them is not done: a slow
  /// cache must neither become a queue in front of the models nor hold the memory of their
  /// responses.
  struct Limits {
    size_t lookup_threads = 16;
    size_t insert_threads = 4;
    size_t waiting_lookups = 256;
    size_t waiting_insert_bytes = size_t{64} << 20;
  };

  /// Opens and initializes the cache `name` with its settings, a JSON object of strings. Blocks
  /// while the plug-in connects to its store.
  static base::Result<std::unique_ptr<ResponseCache>> Open(const std::string& directory,
                                                           const std::string& name,
                                                           const std::string& config_json);

  /// Initializes a cache with a library that is already open.
  static base::Result<std::unique_ptr<ResponseCache>> Create(const std::string& name,
                                                             std::unique_ptr<CacheLibrary> library,
                                                             const std::string& config_json,
                                                             Limits limits);

  /// Waits for posted work, then finalizes the plug-in.
  ~ResponseCache();

  const std::string& name() const { return name_; }

  /// Returns whether a call may wait for a network or a disk. Only the cache "local" is known not
  /// to; its calls may be made on an event loop, those of other caches on the threads below.
  bool blocks() const { return name_ != "local"; }

  /// Calls `read` with the blob of `key`, whose bytes are valid during that call, and returns its
  /// status. Returns NOT_FOUND without a call if the key is not stored. Other errors come from the
  /// plug-in.
  base::Status Lookup(const std::string& key,
                      const std::function<base::Status(std::span<const char>)>& read);

  /// Stores a blob of `size` bytes, which `write` fills in. Returns ALREADY_EXISTS if the key is
  /// stored.
  base::Status Insert(const std::string& key, size_t size,
                      const std::function<base::Status(std::span<char>)>& write);

  /// Runs `task`, which looks something up, on a thread that may block. Returns false, without
  /// running it, if too many wait.
  bool PostLookup(std::function<void()> task);

  /// Runs `task`, which inserts `size` bytes, on a thread that may block. Returns false, without
  /// running it, if too many bytes wait.
  bool PostInsert(size_t size, std::function<void()> task);

 private:
  ResponseCache(std::string name, std::unique_ptr<CacheLibrary> library, Limits limits);

  const std::string name_;
  const Limits limits_;
  const std::unique_ptr<CacheLibrary> library_;
  TRITONCACHE_Cache* cache_ = nullptr;
  bool initialized_ = false;
  std::atomic<size_t> waiting_lookups_{0};
  std::atomic<size_t> waiting_insert_bytes_{0};
  std::unique_ptr<base::BlockingWorkers> lookups_;
  std::unique_ptr<base::BlockingWorkers> inserts_;
};

}  // namespace nereid::cache
