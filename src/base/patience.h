// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace nereid::base {

/// Keeps account of how long a thread has waited for readers that do not read. Without it, ten slow
/// readers could delay a thread ten times as long as one, and with it all other clients of that
/// thread. The account is reduced by a tenth of the time that passes. Used by one thread.
class PatienceLedger {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns how long the thread may wait at `now`, if it may wait `patience` for a single reader.
  /// Never less than `patience` / 50.
  Clock::duration Left(Clock::time_point now, Clock::duration patience) {
    spent_ -= std::min(spent_, (now - seen_) / 10);
    seen_ = now;
    return std::max(patience - spent_, patience / 50);
  }

  /// Records that the thread waited for `time`, until `now`. If the reader `made_room` in the end,
  /// only the time above one second is charged: the reader is slow, but it reads.
  void Spend(Clock::time_point now, Clock::duration time, bool made_room) {
    if (made_room) time -= std::min<Clock::duration>(time, std::chrono::seconds(1));
    spent_ += time;
    seen_ = now;
  }

 private:
  Clock::duration spent_{0};
  Clock::time_point seen_{};
};

}  // namespace nereid::base
