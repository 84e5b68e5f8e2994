// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "base/clock.h"
#include "request/cancellation.h"
#include "request/inference_request.h"
#include "schedule/wake_timer.h"

namespace nereid::schedule {

/// Learns when a queued request is cancelled, and wakes the scheduler's timer to search for it. The
/// scheduler searches at most once in a millisecond, because a search reads the whole queue.
///
/// Locks: OnCancelled runs on the cancelling thread, which holds the lock of the Cancellation. The
/// scheduler calls Watch, which takes that lock, under its own mutex. So OnCancelled must not take
/// the scheduler's mutex: the timer does the work.
class CancellationWatch final : public request::CancellationListener {
 public:
  CancellationWatch(const base::Clock& clock, WakeTimer& timer) : clock_(clock), timer_(timer) {}

  /// Starts to watch a request. Cancellation::SetListener(nullptr) ends that.
  void Watch(const request::InferenceRequest& request) {
    request.cancellation()->SetListener(this);
    if (request.IsCancelled()) OnCancelled();
  }

  /// Returns whether the caller, which the timer has called at `now_ns`, must search for cancelled
  /// requests. If it is too early, sets the timer again. Called by one thread at a time.
  bool TakeDue(uint64_t now_ns) {
    if (!cancelled_.load()) return false;
    if (now_ns < next_search_ns_.load()) {
      timer_.WakeAt(next_search_ns_.load());
      return false;
    }
    next_search_ns_.store(now_ns + kSearchIntervalNs);
    // Cleared before the search: a cancellation that comes during it starts another search.
    cancelled_.store(false);
    return true;
  }

 private:
  static constexpr uint64_t kSearchIntervalNs = 1'000'000;

  void OnCancelled() noexcept override {
    if (cancelled_.exchange(true)) return;
    try {
      timer_.WakeAt(std::max(clock_.NowNs(), next_search_ns_.load()));
    } catch (const std::bad_alloc&) {
      // The request is found when its turn comes, and the next cancellation tries again.
      cancelled_.store(false);
    }
  }

  const base::Clock& clock_;
  WakeTimer& timer_;
  std::atomic<bool> cancelled_{false};       // a queued request was cancelled
  std::atomic<uint64_t> next_search_ns_{0};  // cancelled requests are not searched before this time
};

}  // namespace nereid::schedule
