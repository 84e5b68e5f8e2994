// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/mirror/blob_cache.h"
#include "repository/mirror/checkout_plan.h"
#include "repository/mirror/download_progress.h"
#include "repository/mirror/object_transfers.h"
#include "repository/mirror/patient_store.h"
#include "repository/mirror/retry.h"
#include "repository/mirror/transfer_slots.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::mirror {

/// A model in an object store.
struct RemoteModel {
  storage::ObjectStore& store;
  std::string store_name;  // the URL of the repository without secrets, for the cache and messages
  std::string prefix;      // of the keys of the model's objects; ends with '/'
  std::string name;        // the URL of the model, for messages and the board
};

/// A model's files on the local disk.
struct ModelCopy {
  /// The directory, which is deleted with the last pointer.
  std::shared_ptr<const Checkout> checkout;
  /// The objects that the files come from, sorted by key.
  std::vector<storage::ObjectInfo> objects;
};

/// Makes local copies of models in object stores, with one cache and one bound of parallel reads
/// for all of them. Thread-safe.
class ModelMirror {
 public:
  struct Options {
    RetryPolicy retry;                                                    // of copies
    RetryPolicy brief_retry{100'000'000, 2'000'000'000, 10'000'000'000};  // of everything else
    uint64_t chunk_bytes = 8 << 20;
    uint32_t max_reads = 8;   // at the same time, over all loads
    uint32_t max_rounds = 6;  // downloads of a model that changes meanwhile
    /// Asked often while an operation waits; true ends it with CANCELLED. May be null.
    std::function<bool()> is_cancelled;
    /// For tests, see RetryContext.
    const base::Clock* clock = &base::SteadyClock();
    std::function<void(uint64_t ns)> sleep;
    std::function<uint64_t()> random;
  };
  /// Numbers since the start.
  struct Counts {
    uint64_t bytes_downloaded = 0;
    uint64_t cache_hits = 0;  // objects that were taken from the cache
    uint64_t retries = 0;
  };

  ModelMirror(std::unique_ptr<BlobCache> cache, Options options);

  /// Copies a model. The list of its objects is the same before and after the copy, so the files
  /// belong together: they are the model at one moment. NOT_FOUND if there is no object of it;
  /// UNAVAILABLE if the store stays unavailable or the model changes all the time; INVALID_ARGUMENT
  /// for keys that cannot be files and for refused credentials; INTERNAL for a failure of the disk.
  base::Result<ModelCopy> Copy(const RemoteModel& model);

  /// Returns the content of one object, from the cache if it is there.
  base::Result<std::string> ReadObject(const RemoteModel& model, const storage::ObjectInfo& object);

  /// Returns a store whose operations are retried for a short time, for scans and polls: a client
  /// may wait for them, and a poll is repeated anyway.
  PatientStore Brief(storage::ObjectStore& store) const { return {store, brief_retries_}; }
  const std::function<bool()>& is_cancelled() const { return options_.is_cancelled; }

  const DownloadBoard& board() const { return board_; }
  Counts counts() const;
  uint64_t cache_bytes() const { return cache_->bytes(); }

 private:
  using Objects = std::vector<storage::ObjectInfo>;

  PatientStore Patient(storage::ObjectStore& store) const { return {store, retries_}; }
  /// Lists the objects of a model, sorted by key.
  base::Result<Objects> ListObjects(const RemoteModel& model) const;
  /// Makes a checkout of exactly these objects.
  base::Result<std::shared_ptr<const Checkout>> CopyListed(const RemoteModel& model,
                                                           const Objects& objects,
                                                           DownloadProgress& progress);
  /// Places what is in the cache; returns what is not.
  base::Result<std::vector<WantedObject>> PlaceCached(const RemoteModel& model,
                                                      const CheckoutPlan& plan,
                                                      const Checkout& checkout,
                                                      DownloadProgress& progress);
  base::Status Download(const RemoteModel& model, std::vector<WantedObject> wanted,
                        DownloadProgress& progress);

  const Options options_;
  const std::unique_ptr<BlobCache> cache_;
  std::atomic<uint64_t> bytes_downloaded_{0};
  std::atomic<uint64_t> cache_hits_{0};
  std::atomic<uint64_t> retry_count_{0};
  RetryContext retries_;
  RetryContext brief_retries_;
  TransferSlots slots_;
  DownloadBoard board_;
};

}  // namespace nereid::repository::mirror
