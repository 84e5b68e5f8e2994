// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace nereid::frontend::http2 {

/// Limits events that are cheap for the client and expensive for the server. Allows a burst, then a
/// constant rate, and one more event for each useful one.
class FloodGuard {
 public:
  /// `burst` is the number of events that may come at once, `per_second` the rate afterwards.
  FloodGuard(uint32_t burst, uint32_t per_second, uint64_t now_ns)
      : burst_(burst), per_second_(per_second), left_(burst), paid_until_ns_(now_ns) {}

  /// Counts an event. Returns false if it is one too many. `now_ns` is called only when the burst
  /// is used up.
  template <typename NowNs>
  bool Allow(const NowNs& now_ns) {
    if (left_ == 0) {
      const uint64_t now = now_ns();
      const uint64_t earned = (now - paid_until_ns_) / 1'000'000 * per_second_ / 1000;
      if (earned == 0) return false;
      paid_until_ns_ = now;
      left_ = static_cast<uint32_t>(std::min<uint64_t>(earned, burst_));
    }
    --left_;
    return true;
  }

  /// Counts a useful event, which allows one more of the others.
  void Earn() {
    if (left_ < burst_) ++left_;
  }

 private:
  const uint32_t burst_;
  const uint32_t per_second_;
  uint32_t left_;
  uint64_t paid_until_ns_;
};

}  // namespace nereid::frontend::http2
