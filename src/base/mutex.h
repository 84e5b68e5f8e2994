// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_annotations.h"

namespace nereid::base {

class ConditionVariable;

/// A std::mutex that clang's thread-safety analysis knows. A member that a mutex guards says so
/// with NEREID_GUARDED_BY; a function whose caller holds the mutex says so with NEREID_REQUIRES.
/// tools/check_thread_safety.sh has clang verify every use. With another compiler, and in the
/// program that it makes, this is a std::mutex and nothing more.
class NEREID_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() NEREID_ACQUIRE() { mutex_.lock(); }
  void Unlock() NEREID_RELEASE() { mutex_.unlock(); }
  /// Returns false at once if another thread holds the mutex.
  bool TryLock() NEREID_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a mutex from its construction to its destruction, except between Unlock() and Lock().
class NEREID_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NEREID_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() NEREID_RELEASE() = default;

  /// Releases the mutex before the end of the scope.
  void Unlock() NEREID_RELEASE() { lock_.unlock(); }
  /// Acquires the mutex again after Unlock().
  void Lock() NEREID_ACQUIRE() { lock_.lock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

/// Releases a mutex that the caller holds and acquires it again at the end of the scope, also when
/// an exception leaves the scope. For a function that NEREID_REQUIRES the mutex and must call
/// something without it: clang cannot follow a MutexLock that is passed to a function.
class NEREID_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) NEREID_RELEASE(mutex) : mutex_(mutex) { mutex_.Unlock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;
  // For an object whose constructor releases, "release" at the end means that it acquires again.
  ~MutexUnlock() NEREID_RELEASE() { mutex_.Lock(); }

 private:
  Mutex& mutex_;
};

/// A std::condition_variable that waits with a MutexLock. There is no form with a predicate: the
/// analysis does not know that a lambda runs with the mutex held. A loop says the same:
///
///     while (!ready_) changed_.Wait(lock);
///
/// Every form may return without a notification.
class ConditionVariable {
 public:
  ConditionVariable() = default;
  ConditionVariable(const ConditionVariable&) = delete;
  ConditionVariable& operator=(const ConditionVariable&) = delete;

  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  /// Waits until `deadline` at the latest. Returns false if the deadline has passed.
  template <typename Clock, typename Duration>
  bool WaitUntil(MutexLock& lock, std::chrono::time_point<Clock, Duration> deadline) {
    return condition_.wait_until(lock.lock_, deadline) == std::cv_status::no_timeout;
  }
  /// Waits for `duration` at most. Returns false if it has passed. A loop that may be woken in
  /// between needs WaitUntil: each call begins the duration anew.
  template <typename Rep, typename Period>
  bool WaitFor(MutexLock& lock, std::chrono::duration<Rep, Period> duration) {
    return condition_.wait_for(lock.lock_, duration) == std::cv_status::no_timeout;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace nereid::base
