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
/// SIGINT, SIGTERM  the first one requests a stop; the second one ends the drain before it and logs
///                  the reason for the wait; the third one ends the process at once with exit code
///                  1
/// SIGHUP           calls the reaction on_hang_up
/// SIGPIPE          is ignored
///
/// The time of the stop begins with the first SIGINT or SIGTERM. If the process still runs one
/// second after its end, it is ended with exit code 1. Must be created on the main thread before
/// any other thread starts, because threads inherit the mask that blocks the signals. Must not be
/// destroyed.
class StopSignals {
 public:
  struct Reactions {
    std::function<void()> on_stop;  // called at the first signal; must not block
    /// Returns the text that the log shows after the timeout: the work that did not end, or "".
    std::function<std::string()> describe_unfinished;
    std::function<void()> on_hang_up;  // called for each SIGHUP
  };
  /// `max_stop_ns` is the longest time from the first signal to the end: the drain and the exit
  /// timeout.
  StopSignals(uint64_t max_stop_ns, Reactions reactions);
  StopSignals(const StopSignals&) = delete;

  /// Blocks until a stop is requested.
  void Wait();
  /// Blocks until a second signal comes, at most until `until_ns` (monotonic).
  void WaitForSecond(uint64_t until_ns);
  bool stopping() const { return deadline_ns_.load(std::memory_order_acquire) != 0; }
  /// Returns when the stop must be over (monotonic), or 0 before a stop is requested.
  uint64_t deadline_ns() const { return deadline_ns_.load(std::memory_order_acquire); }

 private:
  void Run();
  void OnStopSignal(int number);

  const uint64_t max_stop_ns_;
  const Reactions reactions_;
  base::Mutex mutex_;  // also held while deadline_ns_ changes, for Wait()
  int stop_signals_ NEREID_GUARDED_BY(mutex_) = 0;
  base::ConditionVariable stop_requested_;
  std::atomic<uint64_t> deadline_ns_{0};
};

/// Ends the process without destroying any object, because threads may still use them. Writes the
/// waiting log lines first, as far as their readers accept them.
[[noreturn]] void ExitImmediately(int code);

}  // namespace nereid::app
