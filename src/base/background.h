// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/scheduling.h"

namespace nereid::base {

/// Lets the other threads that want the CPU of the calling thread, which works in the background,
/// have that CPU until they have used it for a slice of a background thread. Where no other thread
/// wants the CPU, the calling thread goes on at once. For threads that stay in the background,
/// before each piece of work. Does nothing for a thread that was left as it was, except to yield
/// once.
void LetOthersGoFirst();

/// Lets the calling thread work in the background while the object lives: a thread that wakes up
/// gets its CPU at once, and not only when the time slice of the calling thread is over, which is
/// up to 4 ms. The calling thread has the same share of the CPUs as before, so it makes progress on
/// a busy machine, and it delays nobody for long when it holds a lock. Threads and processes that
/// it starts meanwhile do not work in the background. The constructor calls LetOthersGoFirst.
///
/// Meant for long work for which no request waits: loads, unloads, scans. Has no effect on Linux
/// before 6.12, nor where WithSlice() returns nothing. Objects may be nested.
class ScopedBackground {
 public:
  ScopedBackground();
  ~ScopedBackground();
  ScopedBackground(const ScopedBackground&) = delete;
  ScopedBackground& operator=(const ScopedBackground&) = delete;

 private:
  std::optional<SchedulingAttributes> before_;  // nothing: the thread was left as it was
};

}  // namespace nereid::base
