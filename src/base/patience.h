// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace nereid::base {

/// Remembers how long a thread has been held up by readers that did not read, so that ten of them
/// cannot hold it up ten times as long as one may: the thread has other clients to serve. What was
/// spent comes back at a tenth of the time that passes.
class PatienceLedger {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long the thread may be held up now, if one reader alone may hold it up for `patience`.
  /// Never less than a fiftieth of that.
  Clock::duration Left(Clock::time_point now, Clock::duration patience) {
    spent_ -= std::min(spent_, (now - seen_) / 10);
    seen_ = now;
    return std::max(patience - spent_, patience / 50);
  }

  /// The thread was held up for `time`, until `now`. A reader that `made_room` in the end is
  /// charged only what was longer than a second: it is slow, but it reads.
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
