// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::schedule {

/// Learns whether other requests join a request that waits alone for company. A request that waited
/// the whole delay in vain lets the next lone ones go at once: one of them at first, twice as many
/// after each further wait in vain, 128 at most. Any batch of several requests starts the history
/// anew, because its requests had company. Thus a single client waits for one request in 129, and
/// clients that could share a batch are found by the next wait. Not thread-safe.
class LoneRequests {
 public:
  static constexpr uint32_t kMaxSkips = 128;

  /// Returns whether a request that is alone goes at once.
  bool GoesAtOnce() const { return skips_left_ > 0; }
  /// Notes that a request went at once.
  void OnWentAtOnce() { --skips_left_; }
  /// Notes the end of a wait: a batch of `requests` runs because the delay of the oldest is over.
  void OnDelayExpired(size_t requests);
  /// Notes a batch that runs for another reason.
  void OnOtherBatch(size_t requests) {
    if (requests > 1) *this = {};
  }

 private:
  uint32_t skips_ = 0;  // granted by the last wait in vain
  uint32_t skips_left_ = 0;
};

}  // namespace nereid::schedule
