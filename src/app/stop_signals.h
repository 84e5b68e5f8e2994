// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/mutex.h"

namespace nereid::app {

/// Receives the signals of the process, on a thread of its own:
///
/// SIGINT, SIGTERM  the first one requests a stop; the second one logs the reason for the wait; the
///                  third one ends the process at once with exit code 1
/// SIGHUP           reopens the log file, for programs that rotate logs
/// SIGPIPE          is ignored
///
/// The exit timeout begins with the first SIGINT or SIGTERM. If the process still runs one second
/// after the timeout, it is ended with exit code 1. Must be created on the main thread before any
/// other thread starts, because threads inherit the mask that blocks the signals. Must not be
/// destroyed.
class StopSignals {
 public:
  struct Reactions {
    std::function<void()> on_stop;  // called at the first signal; must not block
    /// Returns the text that the log shows after the timeout: the work that did not end, or "".
    std::function<std::string()> describe_unfinished;
  };
  /// `exit_timeout_ns` counts from the first signal.
  StopSignals(uint64_t exit_timeout_ns, Reactions reactions);
  StopSignals(const StopSignals&) = delete;

  /// Blocks until a stop is requested.
  void Wait();
  bool stopping() const { return deadline_ns_.load(std::memory_order_acquire) != 0; }
  /// Returns the end of the exit timeout (monotonic), or 0 before a stop is requested.
  uint64_t deadline_ns() const { return deadline_ns_.load(std::memory_order_acquire); }

 private:
  void Run();
  void OnStopSignal(int number);
  void OnHangUp();

  const uint64_t exit_timeout_ns_;
  const Reactions reactions_;
  int stop_signals_ = 0;  // used by the thread only
  base::Mutex mutex_;     // guards no member: held while deadline_ns_ changes, for Wait()
  base::ConditionVariable stop_requested_;
  std::atomic<uint64_t> deadline_ns_{0};
};

/// Ends the process without destroying any object, because threads may still use them. Writes the
/// waiting log lines first, as far as their readers accept them.
[[noreturn]] void ExitImmediately(int code);

}  // namespace nereid::app
