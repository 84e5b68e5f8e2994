// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/blocking_workers.h"

namespace nereid::tracing {

/// The files of one server's traces, written by a thread of their own: PATH, and PATH.0, PATH.1, …
/// Each is one JSON array, complete whenever nothing is being written to it. What cannot be
/// written, because the disk is full, is dropped, and the log says why, once; the file stays, or
/// becomes again, the array that it was, and what is written later follows it. Thread-safe.
class TraceFile {
 public:
  /// `most_waiting`: bytes that may wait for the disk; what comes beyond is dropped.
  explicit TraceFile(std::string path, size_t most_waiting = size_t{256} << 20)
      : path_(std::move(path)), most_waiting_(most_waiting) {}
  /// Waits until all is written.
  ~TraceFile() = default;

  /// Appends to PATH. `entries`: JSON values with commas between them; not empty.
  void Append(std::string entries);
  /// Writes the next numbered file.
  void WriteNumbered(std::string entries);
  /// Bytes that are not written yet.
  size_t waiting() const { return waiting_.load(std::memory_order_acquire); }

 private:
  void Queue(std::string entries, bool numbered);
  void Write(const std::string& entries, bool numbered);
  void Complain(const std::string& path, const std::string& reason);

  const std::string path_;
  const size_t most_waiting_;
  std::atomic<size_t> waiting_{0};
  std::atomic<bool> complained_{false};
  // The writer's thread only.
  uint64_t next_number_ = 0;
  uint64_t good_size_ = 0;  // of PATH, a whole array; 0: it is not this server's yet
  base::BlockingWorkers writer_{"trace-writer", 1};  // last: its tasks use the rest
};

}  // namespace nereid::tracing
