// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "rollout/outcome_window.h"
#include "rollout/rollout_plan.h"
#include "rollout/rollout_status.h"
#include "rollout/shadow_traffic.h"
#include "telemetry/latency_summary.h"

namespace nereid::rollout {

/// How a request ended.
enum class Outcome {
  kSuccess,
  kFailure,
  kInvalid,    // the version refused what the client sent
  kCancelled,  // by the client
};

/// A plan in effect: counts what the versions do and rolls back. A new plan is a new object.
/// Thread-safe.
///
/// Locks: window_mutex_ and the mutexes of the versions are leaves.
class Rollout {
 public:
  /// `plan` must be complete. `rollbacks` is the number of the model's rollbacks before. `clock`,
  /// and what `run` uses, must outlive the object. `run` compares the answers of a shadow.
  Rollout(std::string model, RolloutPlan plan, uint64_t rollbacks, const base::Clock& clock,
          RunElsewhere run);

  const std::string& model() const { return model_; }
  const RolloutPlan& plan() const { return plan_; }

  /// Returns whether the version was rolled back. After it has returned true it never returns
  /// false.
  bool IsRolledBack(int64_t version) const {
    return is_rolled_back_.load(std::memory_order_acquire) &&
           plan_.rollback->target.version == version;
  }
  /// Returns the weight of a version that holds: 0 after its rollback.
  uint32_t PartsOf(const Weight& weight) const {
    return IsRolledBack(weight.target.version) ? 0 : weight.parts;
  }

  /// Records the end of a request and rolls back if a rule fires; the rollback is in effect when
  /// this returns. Versions that the plan does not name are not counted. `now_ns` is monotonic.
  void OnEnd(int64_t version, Outcome outcome, uint64_t latency_ns, uint64_t now_ns);

  /// Returns the copies that the plan asks for; null without a shadow.
  const std::shared_ptr<ShadowTraffic>& shadow() const { return shadow_; }

  std::optional<RollbackEvent> rollback() const;
  /// Returns how often this model was rolled back, including this plan.
  uint64_t Rollbacks() const;
  /// VersionStatus::ready is left to the caller.
  RolloutStatus Status(uint64_t now_ns) const;

 private:
  struct VersionCounts {
    std::atomic<uint64_t> requests{0};
    std::atomic<uint64_t> failures{0};
    mutable base::Mutex mutex;
    telemetry::LatencySummary latencies_us NEREID_GUARDED_BY(mutex);
  };

  /// Returns the counts of the versions that the plan names.
  static std::map<int64_t, VersionCounts> CountsFor(const RolloutPlan& plan);
  void Watch(Outcome outcome, uint64_t latency_ns, uint64_t now_ns);

  const std::string model_;
  const RolloutPlan plan_;
  const uint64_t earlier_rollbacks_;
  const base::Clock& clock_;
  const std::shared_ptr<ShadowTraffic> shadow_;
  std::map<int64_t, VersionCounts> versions_;  // the keys do not change
  std::atomic<bool> is_rolled_back_{false};
  mutable base::Mutex window_mutex_;
  std::optional<OutcomeWindow> window_ NEREID_GUARDED_BY(window_mutex_);  // of the candidate
  std::optional<RollbackEvent> event_ NEREID_GUARDED_BY(window_mutex_);
};

}  // namespace nereid::rollout
