// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::frontend::http {

/// A moment in ticks of a loop, or never. Checked once a tick for all connections, which is cheaper
/// than a timer for each of them that moves with every read.
class TickDeadline {
 public:
  /// Sets the moment to `ticks` whole ticks after the present tick `now`, which has begun already.
  void Set(uint64_t now, uint64_t ticks) { tick_ = now + ticks + 1; }
  /// The same for a timeout, where 0 means never.
  void SetTimeout(uint64_t now, uint64_t ticks) {
    if (ticks == 0) return Clear();
    Set(now, ticks);
  }
  void Clear() { tick_ = 0; }

  bool HasPassed(uint64_t now) const { return tick_ != 0 && now >= tick_; }

 private:
  uint64_t tick_ = 0;  // 0: never; a loop counts from 1
};

}  // namespace nereid::frontend::http
