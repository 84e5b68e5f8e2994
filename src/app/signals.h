// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::app {

/// SIGINT and SIGTERM as something to wait for; SIGPIPE is ignored. Make it on the main thread
/// before any other thread: the others inherit that the signals are blocked.
class SignalWaiter {
 public:
  SignalWaiter();

  /// Blocks until one of the signals comes, and returns its number.
  int Wait();

  /// From now on further signals are answered in the background: the first says what is being
  /// waited for, the second ends the process at once with exit code 1.
  void WatchImpatience();
};

}  // namespace nereid::app
