// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include "api/inference_service.h"
#include "base/mutex.h"
#include "console/documents.h"
#include "console/event_broadcast.h"
#include "console/series.h"

namespace nereid::base {
class LogTail;
}
namespace nereid::console {

/// Reads the numbers of the models once a second, adds them to the series, and sends them and the
/// new lines of the log to the viewers. Thread-safe.
class Sampler {
 public:
  /// `log` may be null. All arguments must outlive the object.
  Sampler(api::InferenceService& service, SeriesStore& series, const base::LogTail* log);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Starts the thread. Once.
  base::Status Start();
  /// Ends the thread and all streams. A second call does nothing.
  void Stop();

  EventBroadcast& samples() { return samples_; }
  EventBroadcast& log_lines() { return log_lines_; }

  /// Takes one reading. The thread calls it once a second; `now_ns` is monotonic, `time_ms` since
  /// the Unix epoch, `use` that of the process. One thread at a time.
  void Tick(uint64_t now_ns, uint64_t time_ms, const ProcessUse& use);

 private:
  void Run();
  void SendLog();

  api::InferenceService& service_;
  SeriesStore& series_;
  const base::LogTail* const log_;
  EventBroadcast samples_, log_lines_;
  uint64_t sent_line_ = 0;  // the newest line that was sent; only the thread of Tick()

  std::thread thread_;
  base::Mutex mutex_;
  base::ConditionVariable stopped_;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::console
