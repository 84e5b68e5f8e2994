// SPDX-License-Identifier: Apache-2.0
#include "cache/response_cache.h"

#include <utility>

#include "abi/error.h"
#include "base/log.h"
#include "cache/cache_entry.h"

namespace nereid::cache {

using base::Status;

namespace {

/// A response is stored in one buffer.
constexpr size_t kBuffersOfAnEntry = 1;

// Passes the blob of a look-up to `read`. The plug-in may call Copy at any time during the look-up,
// and decides itself which status it returns; the result is kept here.
class Reader final : public EntryCopier {
 public:
  explicit Reader(const std::function<Status(std::span<const char>)>& read) : read_(read) {}

  Status Copy(CacheEntry& entry) override {
    if (std::exchange(copied_, true)) return Status::Internal("the entry was copied before");
    if (entry.buffers.size() != kBuffersOfAnEntry) {
      return result_ =
                 Status::Internal("the cache entry has " + std::to_string(entry.buffers.size()) +
                                  " buffers, 1 was stored");
    }
    const EntryBuffer& buffer = entry.buffers[0];
    return result_ = read_({static_cast<const char*>(buffer.base), buffer.attributes.byte_size});
  }

  /// Returns the result of `read`, whatever the plug-in returned.
  Status result() const {
    return copied_ ? result_ : Status::Internal("the cache found an entry and did not copy it");
  }

 private:
  const std::function<Status(std::span<const char>)>& read_;
  bool copied_ = false;
  Status result_;
};

// Fills the buffer that the plug-in has provided for an insertion.
class Writer final : public EntryCopier {
 public:
  Writer(size_t size, const std::function<Status(std::span<char>)>& write)
      : size_(size), write_(write) {}

  Status Copy(CacheEntry& entry) override {
    if (entry.buffers.size() != kBuffersOfAnEntry) {
      return Status::Internal("the cache entry has " + std::to_string(entry.buffers.size()) +
                              " buffers, 1 was given");
    }
    const EntryBuffer& buffer = entry.buffers[0];
    if (buffer.base == nullptr || buffer.attributes.byte_size != size_) {
      return Status::Internal("the cache gave a buffer of " +
                              std::to_string(buffer.base ? buffer.attributes.byte_size : 0) +
                              " bytes for an entry of " + std::to_string(size_));
    }
    return write_({static_cast<char*>(buffer.base), size_});
  }

 private:
  const size_t size_;
  const std::function<Status(std::span<char>)>& write_;
};

}  // namespace

ResponseCache::ResponseCache(std::string name, std::unique_ptr<CacheLibrary> library, Limits limits)
    : name_(std::move(name)),
      limits_(limits),
      library_(std::move(library)),
      lookups_(std::make_unique<base::BlockingWorkers>("cache-lookup", limits.lookup_threads)),
      inserts_(std::make_unique<base::BlockingWorkers>("cache-insert", limits.insert_threads)) {}

base::Result<std::unique_ptr<ResponseCache>> ResponseCache::Open(const std::string& directory,
                                                                 const std::string& name,
                                                                 const std::string& config_json) {
  NEREID_ASSIGN_OR_RETURN(auto library, CacheLibrary::Open(directory, name));
  return Create(name, std::move(library), config_json, Limits{});
}

base::Result<std::unique_ptr<ResponseCache>> ResponseCache::Create(
    const std::string& name, std::unique_ptr<CacheLibrary> library, const std::string& config_json,
    Limits limits) {
  std::unique_ptr<ResponseCache> cache(new ResponseCache(name, std::move(library), limits));
  const Status status = abi::TakeStatus(
      cache->library_->entry_points().initialize(&cache->cache_, config_json.c_str()));
  if (!status.ok()) return status.WithPrefix("failed to start response cache '" + name + "': ");
  cache->initialized_ = true;
  LOG_INFO << "response cache '" << name << "' is ready: " << cache->library_->path();
  return cache;
}

ResponseCache::~ResponseCache() {
  // Posted work needs the plug-in and must end first: look-ups before insertions, because a look-up
  // may post an insertion.
  lookups_.reset();
  inserts_.reset();
  if (!initialized_) return;
  const Status status = abi::TakeStatus(library_->entry_points().finalize(cache_));
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing response cache '" << name_ << "': " << status.message();
  }
}

Status ResponseCache::Lookup(const std::string& key,
                             const std::function<Status(std::span<const char>)>& read) {
  CacheEntry entry;
  Reader reader(read);
  NEREID_RETURN_IF_ERROR(abi::TakeStatus(
      library_->entry_points().lookup(cache_, key.c_str(), entry.handle(), reader.handle())));
  return reader.result();
}

Status ResponseCache::Insert(const std::string& key, size_t size,
                             const std::function<Status(std::span<char>)>& write) {
  CacheEntry entry;
  entry.buffers.resize(kBuffersOfAnEntry);
  entry.buffers[0].attributes.byte_size = size;
  Writer writer(size, write);
  return abi::TakeStatus(
      library_->entry_points().insert(cache_, key.c_str(), entry.handle(), writer.handle()));
}

// The counters are raised before the test, so that concurrent callers cannot pass the limit
// together.
bool ResponseCache::PostLookup(std::function<void()> task) {
  if (waiting_lookups_.fetch_add(1, std::memory_order_relaxed) >= limits_.waiting_lookups) {
    waiting_lookups_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const bool runs = lookups_->Run([this, task = std::move(task)] {
    task();
    waiting_lookups_.fetch_sub(1, std::memory_order_relaxed);
  });
  if (!runs) waiting_lookups_.fetch_sub(1, std::memory_order_relaxed);
  return runs;
}

bool ResponseCache::PostInsert(size_t size, std::function<void()> task) {
  // A blob larger than the limit is accepted when nothing waits, or it could never be stored.
  const size_t before = waiting_insert_bytes_.fetch_add(size, std::memory_order_relaxed);
  if (before > 0 && before + size > limits_.waiting_insert_bytes) {
    waiting_insert_bytes_.fetch_sub(size, std::memory_order_relaxed);
    return false;
  }
  const bool runs = inserts_->Run([this, size, task = std::move(task)] {
    task();
    waiting_insert_bytes_.fetch_sub(size, std::memory_order_relaxed);
  });
  if (!runs) waiting_insert_bytes_.fetch_sub(size, std::memory_order_relaxed);
  return runs;
}

}  // namespace nereid::cache
