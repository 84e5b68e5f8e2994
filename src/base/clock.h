// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::base {

/// A source of time. It is passed to everything that decides by time, so that tests need not wait.
/// All functions may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Returns nanoseconds of a monotonic clock. Deadlines, statistics and traces use this clock.
  virtual uint64_t NowNs() const = 0;

  /// Returns milliseconds since the Unix epoch, for times that people read.
  virtual uint64_t WallMs() const = 0;
};

/// Returns the clock of the machine (CLOCK_MONOTONIC, CLOCK_REALTIME). It lives as long as the
/// process.
const Clock& SteadyClock();

/// A clock for tests. Its time changes only through Advance().
class FakeClock : public Clock {
 public:
  explicit FakeClock(uint64_t now_ns = 1'000'000'000) : now_ns_(now_ns) {}
  uint64_t NowNs() const override { return now_ns_.load(std::memory_order_acquire); }
  uint64_t WallMs() const override { return NowNs() / 1'000'000; }
  void Advance(uint64_t ns) { now_ns_.fetch_add(ns, std::memory_order_acq_rel); }

 private:
  std::atomic<uint64_t> now_ns_;
};

}  // namespace nereid::base
