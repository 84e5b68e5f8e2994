// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace nereid::base {

/// A budget for the time that one thread waits for readers that do not read. Without it, ten slow
/// readers could delay the thread, and all other clients of the thread, ten times as long as one.
/// The time that was waited is charged to the budget; a tenth of the time that passes is credited.
/// Used by one thread.
class SlowReaderBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns how long the thread may wait at `now`, if it may wait `max_wait` for a single reader.
  /// Returns at least `max_wait` / 50.
  Clock::duration Remaining(Clock::time_point now, Clock::duration max_wait) {
    charged_ -= std::min(charged_, (now - updated_) / 10);
    updated_ = now;
    return std::max(max_wait - charged_, max_wait / 50);
  }

  /// Records that the thread waited for `time`, until `now`. If the reader `made_room` in the end,
  /// only the time above one second is charged: the reader is slow, but it reads.
  void Charge(Clock::time_point now, Clock::duration time, bool made_room) {
    if (made_room) time -= std::min<Clock::duration>(time, std::chrono::seconds(1));
    charged_ += time;
    updated_ = now;
  }

 private:
  Clock::duration charged_{0};
  Clock::time_point updated_{};
};

}  // namespace nereid::base
