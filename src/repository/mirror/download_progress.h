// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace nereid::repository::mirror {

/// How far the download of a model is. Thread-safe.
class DownloadProgress {
 public:
  struct Numbers {
    uint64_t objects = 0;
    uint64_t all_objects = 0;
    uint64_t bytes = 0;
    uint64_t all_bytes = 0;
  };

  explicit DownloadProgress(uint64_t now_ns) : next_log_ns_(now_ns + kLogPeriodNs) {}

  /// Begins with this many objects and bytes of which nothing is there.
  void Begin(uint64_t objects, uint64_t bytes);
  void AddObject() { objects_.fetch_add(1, std::memory_order_relaxed); }
  void AddBytes(uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Takes back bytes that must be downloaded again.
  void TakeBack(uint64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  Numbers numbers() const;
  /// Returns "2 of 5 objects, 1048576 of 4194304 bytes".
  std::string Text() const;
  /// Returns true once in each period of ten seconds.
  bool IsLogDue(uint64_t now_ns);

 private:
  static constexpr uint64_t kLogPeriodNs = 10'000'000'000;

  std::atomic<uint64_t> objects_{0};
  std::atomic<uint64_t> all_objects_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> all_bytes_{0};
  std::atomic<uint64_t> next_log_ns_;
};

/// The downloads in progress, by the URL of the model. Thread-safe.
class DownloadBoard {
 public:
  /// A download on the board, until it is destroyed.
  class Entry {
   public:
    Entry(DownloadBoard& board, std::string model, uint64_t now_ns);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    DownloadProgress& progress() const { return *progress_; }

   private:
    DownloadBoard& board_;
    const std::string model_;
    const std::shared_ptr<DownloadProgress> progress_;
  };

  /// Returns the progress of a model's latest download; null if the model is not downloading.
  std::shared_ptr<const DownloadProgress> Find(const std::string& model) const;

 private:
  mutable base::Mutex mutex_;
  std::multimap<std::string, std::shared_ptr<DownloadProgress>> downloads_
      NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository::mirror
