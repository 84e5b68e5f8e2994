// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log_throttle.h"
#include "base/mutex.h"
#include "rollout/output_comparison.h"
#include "rollout/rollout_plan.h"
#include "rollout/rollout_status.h"

namespace nereid::rollout {

class ShadowPair;

/// Runs a task on another thread, soon. Returns false, without running it, if too many tasks wait.
using RunElsewhere = std::function<bool(std::function<void()>)>;

/// The copies of a model's requests that go to its shadow version: which requests are copied, how
/// many are in flight, what the comparisons found. Thread-safe.
class ShadowTraffic : public std::enable_shared_from_this<ShadowTraffic> {
 public:
  /// `rule` must be complete. `clock` and what `run` uses must outlive the object.
  ShadowTraffic(std::string model, Shadow rule, const base::Clock& clock, RunElsewhere run)
      : model_(std::move(model)), rule_(std::move(rule)), clock_(clock), run_(std::move(run)) {}

  const Shadow& rule() const { return rule_; }

  /// Returns whether a request is selected; `point` is random.
  bool IsSelected(uint64_t point) const { return point % kParts < rule_.parts; }
  /// Returns the pair for a selected request. Returns null, and counts the copy as dropped, if too
  /// many copies are in flight.
  std::shared_ptr<ShadowPair> Begin();
  /// Counts a selected request of which no copy can be made.
  void CountDropped() { dropped_.fetch_add(1, std::memory_order_relaxed); }

  ShadowCounts Counts() const;
  /// Returns the difference that was logged last; empty without one.
  std::string LoggedDifference() const;

 private:
  friend class ShadowPair;
  void Compare(const Answer& expected, const Answer& actual);
  void NoteDifference(std::string difference);

  const std::string model_;
  const Shadow rule_;
  const base::Clock& clock_;
  const RunElsewhere run_;
  std::atomic<uint64_t> equal_{0};
  std::atomic<uint64_t> different_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> in_flight_{0};
  base::LogThrottle throttle_;
  mutable base::Mutex mutex_;
  std::string logged_ NEREID_GUARDED_BY(mutex_);
};

/// The answers to a request and to its copy. They are compared when both are there, on another
/// thread. A pair that is destroyed without a comparison counts as dropped. Thread-safe.
class ShadowPair : public std::enable_shared_from_this<ShadowPair> {
 public:
  /// For ShadowTraffic::Begin; other code calls that function.
  explicit ShadowPair(std::shared_ptr<ShadowTraffic> traffic) : traffic_(std::move(traffic)) {}
  ~ShadowPair();
  ShadowPair(const ShadowPair&) = delete;
  ShadowPair& operator=(const ShadowPair&) = delete;

  /// Set the answer of the version that answers the client, and that of the shadow version. An
  /// answer that is set a second time is ignored.
  void SetExpected(Answer answer) { Set(/*is_expected=*/true, std::move(answer)); }
  void SetActual(Answer answer) { Set(/*is_expected=*/false, std::move(answer)); }

 private:
  void Set(bool is_expected, Answer answer) NEREID_EXCLUDES(mutex_);
  void Compare() NEREID_EXCLUDES(mutex_);

  const std::shared_ptr<ShadowTraffic> traffic_;
  std::atomic<bool> is_compared_{false};
  base::Mutex mutex_;
  std::optional<Answer> expected_ NEREID_GUARDED_BY(mutex_);
  std::optional<Answer> actual_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::rollout
