// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"

namespace nereid::app {

/// The signals of the process, taken on a thread of their own from the start until the end:
///
/// SIGINT, SIGTERM  the first one asks for a stop; the second one says what that waits for; the
///                  third one ends the process at once, with exit code 1
/// SIGHUP           opens the log file anew, for programs that rotate logs; else nothing
/// SIGPIPE          ignored
///
/// From the first one on the stop has its time: when it is over by more than a moment the process
/// is ended with exit code 1, whatever still runs. Make one on the main thread before any other
/// thread: the others inherit that the signals are blocked. It stays until the process ends.
class StopSignals {
 public:
  struct Reactions {
    std::function<void()> on_stop;           // the first signal; must not block
    std::function<std::string()> what_runs;  // for the log when the time is over; "" for nothing
  };
  /// `exit_timeout_ns` counts from the first signal.
  StopSignals(uint64_t exit_timeout_ns, Reactions reactions);
  StopSignals(const StopSignals&) = delete;

  /// Blocks until a stop is asked for.
  void Wait();
  bool stopping() const { return deadline_ns_.load(std::memory_order_acquire) != 0; }
  /// When the stop's time is over (monotonic); once it has been asked for.
  uint64_t deadline_ns() const { return deadline_ns_.load(std::memory_order_acquire); }

 private:
  void Run();
  void OnStopSignal(int number);
  void OnHangUp();

  const uint64_t exit_timeout_ns_;
  const Reactions reactions_;
  int stop_signals_ = 0;  // the thread's
  base::Mutex mutex_;     // guards no member: held while deadline_ns_ changes, for Wait()
  base::ConditionVariable asked_;
  std::atomic<uint64_t> deadline_ns_{0};
};

/// Ends the process without taking anything down that may still be in use. What was logged goes
/// out before, as far as somebody reads it.
[[noreturn]] void EndAtOnce(int code);

}  // namespace nereid::app
