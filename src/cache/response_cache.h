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

/// The server's one response cache: a plug-in that keeps blobs under keys, and the threads that
/// wait for it where it is slow. What a blob means is its callers' business. Thread-safe; must
/// outlive the models that use it.
class ResponseCache {
 public:
  /// How far work may pile up behind a plug-in that blocks. What does not fit is not done: a slow
  /// cache must not become a queue in front of the models, nor hold the memory of their answers.
  struct Limits {
    size_t lookup_threads = 16;
    size_t insert_threads = 4;
    size_t waiting_lookups = 256;
    size_t waiting_insert_bytes = size_t{64} << 20;
  };

  /// Opens and initialises the cache `name` with its settings, a JSON object of strings. Blocks
  /// while the plug-in connects to whatever it needs.
  static base::Result<std::unique_ptr<ResponseCache>> Open(const std::string& directory,
                                                           const std::string& name,
                                                           const std::string& config_json);

  /// The same around a library that is there.
  static base::Result<std::unique_ptr<ResponseCache>> Create(const std::string& name,
                                                             std::unique_ptr<CacheLibrary> library,
                                                             const std::string& config_json,
                                                             Limits limits);

  /// Waits for posted work, then lets the plug-in finalise.
  ~ResponseCache();

  const std::string& name() const { return name_; }

  /// Whether a call may wait for a network or a disk. Only "local" is known not to: its calls may
  /// be made on an I/O loop, those of all others belong on the threads below.
  bool blocks() const { return name_ != "local"; }

  /// Reads the blob of `key`: `read` is called at most once, with bytes that are valid during the
  /// call, and what it returns is passed on. NOT_FOUND if there is none; any other failure is the
  /// plug-in's or `read`'s.
  base::Status Lookup(const std::string& key,
                      const std::function<base::Status(std::span<const char>)>& read);

  /// Stores a blob of `size` bytes, which `write` fills in. ALREADY_EXISTS if the key is stored.
  base::Status Insert(const std::string& key, size_t size,
                      const std::function<base::Status(std::span<char>)>& write);

  /// Runs `task`, which looks something up, on a thread that may block. False, without running it,
  /// where too many wait.
  bool PostLookup(std::function<void()> task);

  /// Runs `task`, which inserts `size` bytes. False, without running it, where too much waits.
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
