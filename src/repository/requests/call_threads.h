// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace nereid::repository {

/// A thread that runs calls, one at a time. Used by one thread.
class CallThread {
 public:
  /// Starts the thread with its first call. Returns the error of base::StartThread.
  static base::Result<std::unique_ptr<CallThread>> Start(std::function<void()> call);
  /// Waits for the call that runs.
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  /// Runs `call` after the call that runs. Moves from `call` unless it returns false: the thread
  /// has ended, because it had no call for a second.
  bool Run(std::function<void()>& call);
  /// Leaves the thread behind: it ends after the call that runs, which nobody waits for.
  static void Leave(std::unique_ptr<CallThread> thread);

 private:
  /// What the thread and this object share. A thread that is left behind outlives the object.
  struct Shared;

  explicit CallThread(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void End();

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

/// The threads for calls that may never return. Loads of many small models would otherwise spend
/// much of their time on starting threads. Thread-safe.
class CallThreads {
 public:
  /// Runs `call` on an idle thread, or on a new one. Returns the thread, or the error of
  /// base::StartThread, without running `call`.
  base::Result<std::unique_ptr<CallThread>> Run(std::function<void()> call);
  /// Keeps a thread whose call has returned, or is about to, for the next one.
  void Keep(std::unique_ptr<CallThread> thread);

 private:
  std::unique_ptr<CallThread> TakeIdle();

  base::Mutex mutex_;
  std::vector<std::unique_ptr<CallThread>> idle_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
