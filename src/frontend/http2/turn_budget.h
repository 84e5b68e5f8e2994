// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::frontend::http2 {

/// How long one connection may use a turn of its loop, and how long it may keep replies back.
///
/// A connection whose client sends faster than the server works takes in the bytes of one read in
/// several turns, so that the other connections of the loop need not wait for the whole. A write
/// costs as much as a small request. So the replies to a part of the bytes wait for those to the
/// rest, but not for long.
class TurnBudget {
 public:
  /// The time by which a busy connection delays the others in each turn. It is long compared with
  /// what another turn costs, a few microseconds.
  static constexpr uint64_t kTurnNs = 100'000;
  static constexpr uint64_t kHoldNs = 250'000;

  /// Begins a turn. Its time begins with the first call of IsOver().
  void Begin() { begin_ns_ = 0; }
  bool IsOver(uint64_t now_ns) {
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    return now_ns - begin_ns_ >= kTurnNs;
  }

  /// Returns whether the replies wait for the next turn, in which the connection goes on. IsOver()
  /// must have been called in this one.
  bool HoldsBack(uint64_t now_ns) {
    if (held_since_ns_ == 0) held_since_ns_ = begin_ns_;
    return now_ns - held_since_ns_ < kHoldNs;
  }
  /// No reply waits any more.
  void EndHold() { held_since_ns_ = 0; }

 private:
  uint64_t begin_ns_ = 0;       // 0: the clock was not read in this turn
  uint64_t held_since_ns_ = 0;  // the beginning of the first turn whose replies wait; 0: none do
};

}  // namespace nereid::frontend::http2
