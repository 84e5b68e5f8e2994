// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/blocking_workers.h"

namespace nereid::tracing {

/// The trace files of one server, written by a thread of their own: PATH, and PATH.0, PATH.1, …
/// Each file is one JSON array, complete whenever nothing is being written to it. Entries that
/// cannot be written, for example because the disk is full, are dropped, and the reason is logged
/// once; the file is restored to its last complete array, and later entries are appended to that.
/// Thread-safe.
class TraceFile {
 public:
  /// `max_waiting` is the maximum number of bytes that wait for the disk; further ones are
  /// dropped.
  explicit TraceFile(std::string path, size_t max_waiting = size_t{256} << 20)
      : path_(std::move(path)), max_waiting_(max_waiting) {}
  /// Waits until everything is written.
  ~TraceFile() = default;

  /// Appends to PATH. `entries` are JSON values separated by commas; not empty.
  void Append(std::string entries);
  /// Writes `entries` to the next numbered file.
  void WriteNumbered(std::string entries);
  /// Returns the number of bytes that are not written yet.
  size_t waiting() const { return waiting_.load(std::memory_order_acquire); }

 private:
  void Queue(std::string entries, bool numbered);
  void Write(const std::string& entries, bool numbered);
  void LogFailureOnce(const std::string& path, const std::string& reason);

  const std::string path_;
  const size_t max_waiting_;
  std::atomic<size_t> waiting_{0};
  std::atomic<bool> failure_logged_{false};
  // Used by the writer's thread only.
  uint64_t next_number_ = 0;
  uint64_t good_size_ = 0;  // of PATH, a complete array; 0: this server has not written it yet
  base::BlockingWorkers writer_{"trace-writer", 1};  // last: its tasks use the other members
};

}  // namespace nereid::tracing
