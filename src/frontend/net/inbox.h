// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"
#include "frontend/net/task.h"

namespace nereid::frontend::net {

/// The tasks that an event loop has been given, by its own thread or by others. It outlives the
/// loop: a plug-in may send a response when the server has gone. Posting takes no lock and no
/// memory.
///
/// The loop that waits for events watches wake_descriptor(). A thread that posts writes to it only
/// if the loop waits, and only the first of several threads does: a loop that is busy costs those
/// that post no system call.
class Inbox {
 public:
  /// Returns UNAVAILABLE if the system has no descriptor for it.
  static base::Result<std::shared_ptr<Inbox>> Make();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Has the loop run `task` soon, after those that were posted before, or drops it if the loop has
  /// ended. `owner` keeps the task's object alive until then; it may be null where something else
  /// does. Does nothing if the task waits already: it will see what was done before this call. Any
  /// thread.
  void Post(Task& task, std::shared_ptr<void> owner) noexcept;

  // ---- For the loop, on its thread. ----

  /// Appends all tasks to `tasks`, in the order in which they were posted.
  void Take(TaskList* tasks) noexcept;
  /// Asks for a wake-up by the next task. Returns false if there is a task already: the loop must
  /// not wait.
  bool Arm() noexcept;
  /// The loop does not wait any more.
  void Disarm() noexcept { armed_.store(false, std::memory_order_relaxed); }
  /// An eventfd(2) that becomes readable with each wake-up. It is never read: it must be watched
  /// edge-triggered.
  int wake_descriptor() const { return wake_; }
  /// Drops all tasks, now and from now on. Any thread.
  void Close() noexcept;

 private:
  explicit Inbox(int wake) : wake_(wake) {}
  void Wake() noexcept;

  const int wake_;
  /// The task that was posted last, linked to those before it; a mark once the inbox is closed.
  std::atomic<Task*> newest_{nullptr};
  std::atomic<bool> armed_{false};
};

}  // namespace nereid::frontend::net
