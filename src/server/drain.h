// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace nereid::server {

/// Whether the server drains: it is not ready and begins no new sequences, and everything else is
/// served. A drain may end by itself, so that a server whose operator has gone away does not stay
/// out of service. Thread-safe.
class Drain {
 public:
  static constexpr uint64_t kForever = UINT64_MAX;

  /// Begins a drain, or sets its end anew: until `until_ns` (monotonic), or kForever.
  void Begin(uint64_t until_ns) { until_ns_.store(until_ns, std::memory_order_release); }
  void End() { until_ns_.store(0, std::memory_order_release); }
  /// Begins the drain before a stop of the server: nothing ends it.
  void BeginFinal() { final_.store(true, std::memory_order_release); }
  bool IsFinal() const { return final_.load(std::memory_order_acquire); }

  bool IsActive(uint64_t now_ns) const { return now_ns < Until(); }
  /// Returns how long the drain still lasts; nothing if it does not end by itself or is over.
  std::optional<uint64_t> LeftNs(uint64_t now_ns) const {
    const uint64_t until_ns = Until();
    if (until_ns == kForever || now_ns >= until_ns) return std::nullopt;
    return until_ns - now_ns;
  }

 private:
  uint64_t Until() const {
    return IsFinal() ? kForever : until_ns_.load(std::memory_order_acquire);
  }

  std::atomic<uint64_t> until_ns_{0};
  std::atomic<bool> final_{false};
};

}  // namespace nereid::server
