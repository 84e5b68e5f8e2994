// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "api/trace_settings.h"
#include "tracing/trace_file.h"

namespace nereid::tracing {

/// One state of the server's or a model's settings at work: chooses requests, and collects the
/// traces of those it has chosen. Replaced as a whole when something is changed; the traces of
/// requests under way go to the one that chose them. Thread-safe.
class TraceSampling {
 public:
  /// `file` is null where settings.file is empty.
  TraceSampling(api::TraceSettings settings, std::shared_ptr<TraceFile> file);
  /// Writes what is left.
  ~TraceSampling();
  TraceSampling(const TraceSampling&) = delete;
  TraceSampling& operator=(const TraceSampling&) = delete;

  /// With the number of traces that are left now.
  api::TraceSettings settings() const;
  uint32_t level() const { return settings_.level; }

  /// Whether the next request is to be traced: one in `rate`, while traces are left. Collect is to
  /// be called for each that is.
  bool Choose();

  /// Takes a finished trace: JSON values with commas between them, or nothing.
  void Collect(std::string entries);

 private:
  void Write(std::string entries, bool numbered);

  const api::TraceSettings settings_;
  const std::shared_ptr<TraceFile> file_;
  std::atomic<uint64_t> seen_{0};
  std::atomic<int32_t> left_;
  std::atomic<uint64_t> chosen_{0};
  std::mutex mutex_;
  std::string entries_;     // guarded by mutex_
  uint64_t gathered_ = 0;   // guarded by mutex_; traces in entries_
  uint64_t collected_ = 0;  // guarded by mutex_; traces so far
};

}  // namespace nereid::tracing
