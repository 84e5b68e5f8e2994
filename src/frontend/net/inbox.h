// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"
#include "frontend/net/task.h"

namespace nereid::frontend::net {

/// The tasks that the loop's own thread or other threads have posted to an event loop. It outlives
/// the loop, because a plug-in may send a response when the server has gone. Posting takes no lock
/// and no memory.
///
/// A loop that waits for events watches wake_descriptor(). A thread that posts writes to it only if
/// the loop waits, and only the first of several threads does: a post to a busy loop costs no
/// system call.
class Inbox {
 public:
  /// Creates an inbox. Returns UNAVAILABLE if the system has no descriptor for it.
  static base::Result<std::shared_ptr<Inbox>> Make();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Makes the loop run `task` after the earlier ones, or drops it if the loop has ended. `owner`
  /// keeps the task's object alive until then; it may be null if something else does. Does nothing
  /// if the task already waits: the task will see everything that was done before this call. May be
  /// called on any thread.
  void Post(Task& task, std::shared_ptr<void> owner) noexcept;

  // ---- For the loop, on its thread. ----

  /// Appends all tasks to `tasks`, in the order in which they were posted.
  void Take(TaskList* tasks) noexcept;
  /// Requests a wake-up by the next task. Returns false if there already is a task: the loop must
  /// not wait.
  bool Arm() noexcept;
  /// Called when the loop does not wait any more.
  void Disarm() noexcept { armed_.store(false, std::memory_order_relaxed); }
  /// Returns an eventfd(2) that becomes readable with each wake-up. It is never read, so it must be
  /// watched edge-triggered.
  int wake_descriptor() const { return wake_; }
  /// Drops all tasks, now and later. May be called on any thread.
  void Close() noexcept;

 private:
  explicit Inbox(int wake) : wake_(wake) {}
  void Wake() noexcept;

  const int wake_;
  /// The task that was posted last, linked to the earlier ones; a mark once the inbox is closed.
  std::atomic<Task*> newest_{nullptr};
  std::atomic<bool> armed_{false};
};

}  // namespace nereid::frontend::net
