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
    if (listener_ != nullptr) listener_->OnCancelled();
  }
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  /// Who is told of the cancellation: whoever holds the request at the moment; null for nobody.
  /// When this returns, the former listener is not being called and never will be. A request that
  /// was cancelled before is not reported: ask IsCancelled after this.
  void SetListener(CancellationListener* listener) {
    std::lock_guard lock(mutex_);
    listener_ = listener;
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  CancellationListener* listener_ = nullptr;  // guarded by mutex_, held while it is called
};

}  // namespace nereid::request
