// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/status.h"

namespace nereid::repository::mirror {

/// How often and how long a failed operation is repeated: exponential back-off with full jitter
/// (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
struct RetryPolicy {
  uint64_t first_ns = 200'000'000;     // upper bound of the first wait; doubles with each failure
  uint64_t cap_ns = 10'000'000'000;    // upper bound of every wait
  uint64_t total_ns = 60'000'000'000;  // no wait ends later than this after the first failure
};

/// Returns how long to wait before the next attempt, or nothing if the operation has failed for
/// good. `failures` counts the failed attempts and is at least 1. `random` is a uniform number.
/// `elapsed_ns` is the time since the first attempt began.
std::optional<uint64_t> NextDelayNs(const RetryPolicy& policy, uint32_t failures, uint64_t random,
                                    uint64_t elapsed_ns);

/// The surroundings of retries, which tests replace.
struct RetryContext {
  RetryPolicy policy;
  const base::Clock* clock = &base::SteadyClock();
  std::function<void(uint64_t ns)> sleep;  // null: the thread sleeps
  std::function<uint64_t()> random;        // null: random numbers of the system
  std::function<void()> on_retry;          // called before each retry; may be null
};

/// The attempts of one operation.
class Attempts {
 public:
  /// The context must outlive this object. `is_cancelled` may be null.
  Attempts(const RetryContext& context, std::function<bool()> is_cancelled);

  /// Waits before the next attempt after one that failed with `failure`. Returns `failure` if a
  /// retry cannot help or the policy's time is over, and CANCELLED if `is_cancelled` returned true.
  /// UNAVAILABLE is retried, and so are the first failures with INTERNAL: a response that was
  /// damaged on its way looks like a violation of the protocol.
  base::Status WaitAfter(base::Status failure);
  /// Waits as after this many failures, whatever time has passed. CANCELLED as above.
  base::Status Pause(uint32_t failures) const;
  /// Forgets the failures: the last attempt made progress.
  void Restart();

 private:
  base::Status Wait(uint64_t ns) const;

  const RetryContext& context_;
  const std::function<bool()> is_cancelled_;
  uint64_t begin_ns_;
  uint32_t failures_ = 0;
  uint32_t internal_failures_ = 0;
};

}  // namespace nereid::repository::mirror
