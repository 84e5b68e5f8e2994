// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace nereid::base {

/// The time of an event that will not happen.
inline constexpr uint64_t kNever = UINT64_MAX;

/// A length of time, made of a number that may come from outside: a request, a header, a model's
/// configuration, a flag. Nothing overflows: a length of more than 64 bits of nanoseconds is
/// endless, and a time that they cannot hold is kNever.
class Duration {
 public:
  static constexpr Duration Nanoseconds(uint64_t count) { return {count, 1}; }
  static constexpr Duration Microseconds(uint64_t count) { return {count, 1'000}; }
  static constexpr Duration Milliseconds(uint64_t count) { return {count, 1'000'000}; }
  static constexpr Duration Seconds(uint64_t count) { return {count, 1'000'000'000}; }
  static constexpr Duration Minutes(uint64_t count) { return {count, 60'000'000'000}; }
  static constexpr Duration Hours(uint64_t count) { return {count, 3'600'000'000'000}; }

  constexpr uint64_t ns() const { return ns_; }
  /// Returns the time that is this much later than `now_ns`.
  constexpr uint64_t After(uint64_t now_ns) const {
    return ns_ > kNever - now_ns ? kNever : now_ns + ns_;
  }

 private:
  constexpr Duration(uint64_t count, uint64_t unit_ns)
      : ns_(count > kNever / unit_ns ? kNever : count * unit_ns) {}

  uint64_t ns_;
};

/// Returns how long a thread waits at `now_ns` for the time `until_ns` of the same clock: an hour
/// at most, which every function that waits can add to its own clock. The thread must compare the
/// times again after the wait.
constexpr std::chrono::nanoseconds WaitTime(uint64_t now_ns, uint64_t until_ns) {
  constexpr uint64_t kMaxNs = Duration::Hours(1).ns();
  return std::chrono::nanoseconds(until_ns > now_ns ? std::min(until_ns - now_ns, kMaxNs)
                                                    : uint64_t{0});
}

}  // namespace nereid::base
