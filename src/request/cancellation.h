// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "base/mutex.h"

namespace nereid::request {

/// Receives the cancellation of a request; see Cancellation::SetListener.
class CancellationListener {
 public:
  virtual ~CancellationListener() = default;
  /// Called on the thread that cancels, which may be an event loop, with the Cancellation's lock
  /// held. Must be short, must not block, and must not call the Cancellation.
  virtual void OnCancelled() noexcept = 0;
};

/// Whether a request was cancelled. Shared by the front end, which cancels, and by the scheduler,
/// the backend and others that can stop early. Thread-safe.
class Cancellation {
 public:
  /// Cancels the request and calls the listener. A second call does nothing.
  void Cancel() NEREID_EXCLUDES(mutex_) {
    if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    base::MutexLock lock(mutex_);
    CancellationListener* const listener = listener_.load(std::memory_order_relaxed);
    if (listener != nullptr) listener->OnCancelled();
  }
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  /// Sets the listener, or none (null). When this returns, the former listener is not being called
  /// and will not be called. A cancellation that came earlier is not reported, so the caller must
  /// test IsCancelled after this call. Only the owner of the request may call it, so never two
  /// threads at a time; that makes the check without the lock safe, and repeated calls with the
  /// same listener cheap.
  void SetListener(CancellationListener* listener) NEREID_EXCLUDES(mutex_) {
    if (listener_.load(std::memory_order_relaxed) == listener) return;
    base::MutexLock lock(mutex_);
    listener_.store(listener, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> cancelled_{false};
  base::Mutex mutex_;
  // Written with mutex_ held, but no annotation says so: its owner also reads it without the lock.
  // mutex_ is held while the listener is called, so that SetListener waits for a call in progress.
  std::atomic<CancellationListener*> listener_{nullptr};
};

}  // namespace nereid::request
