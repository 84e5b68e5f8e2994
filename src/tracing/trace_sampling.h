// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "api/trace_settings.h"
#include "base/mutex.h"
#include "tracing/trace_file.h"

namespace nereid::tracing {

/// Settings of the server or of a model in use: selects requests and collects their traces.
/// Replaced as a whole when a setting changes; a trace goes to the object that selected its
/// request. Thread-safe.
class TraceSampling {
 public:
  /// `file` is null if settings.file is empty.
  TraceSampling(api::TraceSettings settings, std::shared_ptr<TraceFile> file);
  /// Writes the collected traces.
  ~TraceSampling();
  TraceSampling(const TraceSampling&) = delete;
  TraceSampling& operator=(const TraceSampling&) = delete;

  /// Returns the settings, with the number of traces that are left.
  api::TraceSettings settings() const;
  uint32_t level() const { return settings_.level; }

  /// Returns whether the next request is traced: one in `rate`, while traces are left. If so,
  /// Collect must be called for it.
  bool Choose();

  /// Takes a finished trace: JSON values separated by commas, or "".
  void Collect(std::string entries);

 private:
  void Write(std::string entries, bool numbered);

  const api::TraceSettings settings_;
  const std::shared_ptr<TraceFile> file_;
  std::atomic<uint64_t> seen_{0};
  std::atomic<int32_t> left_;
  std::atomic<uint64_t> chosen_{0};
  base::Mutex mutex_;
  std::string entries_ NEREID_GUARDED_BY(mutex_);
  uint64_t traces_waiting_ NEREID_GUARDED_BY(mutex_) = 0;  // traces in entries_
  uint64_t collected_ NEREID_GUARDED_BY(mutex_) = 0;       // traces so far
};

}  // namespace nereid::tracing
