// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/log_entry.h"
#include "base/mutex.h"

namespace nereid::base {

/// One of the last lines of the log.
struct TailLine {
  uint64_t number = 0;   // of the line: 1, 2, … without gaps
  uint64_t time_ms = 0;  // since the Unix epoch
  LogLevel level = LogLevel::kInfo;
  std::string file;  // without its directory
  int line = 0;
  std::string message;  // with the entry's table; may contain any bytes and line breaks
  std::string model, request_id, trace_id;

  size_t size() const {
    return file.size() + message.size() + model.size() + request_id.size() + trace_id.size();
  }
};

/// Keeps the last lines of the log in memory, for readers that come later. The oldest lines are
/// dropped when there are too many or their texts are too large. Thread-safe.
class LogTail {
 public:
  struct Limits {
    size_t lines = 2000;
    size_t bytes = size_t{1} << 20;       // of all texts
    size_t line_bytes = size_t{8} << 10;  // of one message; the rest is cut off
  };
  explicit LogTail(Limits limits) : limits_(limits) {}
  LogTail() : LogTail(Limits()) {}

  /// Adds a line. `time_ms` is since the Unix epoch. May throw std::bad_alloc: the line is lost
  /// then.
  void Add(const LogEntry& entry, uint64_t time_ms);

  /// Returns the lines after number `after`, the last `most` of them, from old to new. 0: from the
  /// first line that is kept.
  std::vector<TailLine> After(uint64_t after, size_t most) const;

  /// Returns the number of the newest line; 0 if there was none.
  uint64_t last() const;

 private:
  const Limits limits_;
  mutable Mutex mutex_;
  std::deque<TailLine> lines_ NEREID_GUARDED_BY(mutex_);
  size_t bytes_ NEREID_GUARDED_BY(mutex_) = 0;
  uint64_t last_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::base
