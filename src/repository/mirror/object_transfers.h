// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/mirror/blob_cache.h"
#include "repository/mirror/download_progress.h"
#include "repository/mirror/patient_store.h"
#include "repository/mirror/transfer_slots.h"

namespace nereid::repository::mirror {

/// An object to download, and the path that its file gets.
struct WantedObject {
  storage::ObjectInfo object;
  std::string path;
};

/// The download of several objects of one store in ranges, by several threads. Each object is
/// written to a temporary file, verified against the store's checksum, and added to the cache.
class ObjectTransfers {
 public:
  /// What the downloads of all loads share, and the store. Everything must outlive the transfers.
  struct Context {
    const PatientStore& store;
    std::string store_name;  // the URL of the repository, for the cache's index
    BlobCache& cache;
    TransferSlots& slots;
    uint64_t chunk_bytes;
    uint32_t max_threads;
    std::atomic<uint64_t>& bytes_downloaded;
    std::function<bool()> is_cancelled;  // may be null
    std::function<void()> on_progress;   // called often, by the threads; may be null
    DownloadProgress& progress;
  };

  ObjectTransfers(Context context, std::vector<WantedObject> objects);
  ObjectTransfers(const ObjectTransfers&) = delete;
  ObjectTransfers& operator=(const ObjectTransfers&) = delete;

  /// Downloads all objects on the calling thread and helpers. Returns the first failure: that of
  /// the store (ALREADY_EXISTS: an object was written again), of the disk, or CANCELLED. Must be
  /// called once.
  base::Status Run();

 private:
  /// An object in progress.
  struct Part {
    WantedObject wanted;
    std::string temporary;
    OpenFile file;
    uint64_t begun = 0;      // bytes for which a read was begun
    uint64_t remaining = 0;  // bytes that are not read; at 0 the object is complete
    uint32_t attempts = 0;   // downloads with a wrong content
  };
  struct Chunk {
    Part* part;
    uint64_t offset;
    uint64_t size;
  };

  size_t CountChunks() const;
  /// Takes chunks until none is left. Every thread calls this once.
  void Work();
  std::optional<Chunk> Take();
  base::Status OpenPart(Part& part) NEREID_REQUIRES(mutex_);
  base::Status Fetch(const Chunk& chunk);
  /// Adds a complete object to the cache.
  base::Status Complete(Part& part);
  /// Begins an object with a wrong content again, or returns `damage` for the last time.
  base::Status Repeat(Part& part, const base::Status& damage);
  void Fail(const base::Status& failure);
  bool IsStopped() const;

  const Context context_;
  std::list<Part> parts_;  // the list itself does not change; a part belongs to its threads
  std::atomic<bool> failed_{false};
  base::Mutex mutex_;
  std::deque<Part*> queue_ NEREID_GUARDED_BY(mutex_);  // the first one is being divided
  base::Status failure_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository::mirror
