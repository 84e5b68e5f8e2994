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

/// Settings of the server or of a model in use: selects requests and, in mode triton, collects
/// their traces. Replaced as a whole when a setting changes; a trace goes to the object that
/// selected its request. Thread-safe.
class TraceSampling {
 public:
  /// `file` is null if settings.file is empty, and in mode opentelemetry.
  TraceSampling(api::TraceSettings settings, std::shared_ptr<TraceFile> file);
  /// Writes the collected traces.
  ~TraceSampling();
  TraceSampling(const TraceSampling&) = delete;
  TraceSampling& operator=(const TraceSampling&) = delete;

  /// Returns the settings, with the number of traces that are left.
  api::TraceSettings settings() const;
  uint32_t level() const { return settings_.level; }

  /// Returns whether any request may be traced. In mode opentelemetry a client may ask for a trace,
  /// whatever the rate and the count say.
  bool MayTrace() const;

  /// Returns whether the next request is traced: one in `rate`, while traces are left; also if the
  /// client asks for it (`is_wanted`). If so, Collect must be called for it in mode triton.
  bool Choose(bool is_wanted = false);

  /// Takes a finished trace: JSON values separated by commas, or "".
  void Collect(std::string entries);

 private:
  /// Counts a request. Returns whether rate and count select it.
  bool TakeTurn();
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
