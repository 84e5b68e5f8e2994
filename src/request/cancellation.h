// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace nereid::request {

/// Is told when a request that it holds is cancelled; see Cancellation::SetListener.
class CancellationListener {
 public:
  virtual ~CancellationListener() = default;
  /// On the thread that cancels, which may be an I/O loop: must be short, and must neither block
  /// nor call back into the Cancellation.
  virtual void OnCancelled() noexcept = 0;
};

/// Whether the client still wants an answer. Shared by the front end, which sets it, and everybody
/// who may stop early. All functions may be called from any thread.
class Cancellation {
 public:
  /// Cancelling twice is cancelling once.
  void Cancel() {
    if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    std::lock_guard lock(mutex_);
    CancellationListener* const listener = listener_.load(std::memory_order_relaxed);
    if (listener != nullptr) listener->OnCancelled();
  }
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  /// Who is told of the cancellation: whoever holds the request at the moment; null for nobody.
  /// When this returns, the former listener is not being called and never will be. A request that
  /// was cancelled before is not reported: ask IsCancelled after this. Called by the owner of the
  /// request, so never by two threads at a time; that nobody listens still is cheap to say.
  void SetListener(CancellationListener* listener) {
    if (listener_.load(std::memory_order_relaxed) == listener) return;
    std::lock_guard lock(mutex_);
    listener_.store(listener, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  // Changed with mutex_ held, which is held too while the listener is called.
  std::atomic<CancellationListener*> listener_{nullptr};
};

}  // namespace nereid::request
