// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/stages.h"
#include "base/status.h"
#include "watchdog/stall_judge.h"

namespace nereid::watchdog {

/// Returns how often a watchdog with this bound asks the stages.
uint64_t PeriodFor(uint64_t bound_ns);

/// Returns a finding as a sentence: "event loop 'http-0' has not moved for 60 s: …".
std::string Describe(const Finding& finding);

/// Asks the stages of the process now and then whether they move, on a thread of its own; no
/// request is involved. Logs what it finds and counts it. Thread-safe.
class Watchdog {
 public:
  /// A stage is stuck after `bound_ns`. The arguments must outlive the object.
  explicit Watchdog(uint64_t bound_ns, base::StageList& stages = base::ProcessStages(),
                    const base::Clock& clock = base::SteadyClock());
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Starts the thread. Returns UNAVAILABLE if the system provides none.
  base::Status Start();

  /// Carries out one round. One thread at a time; for tests instead of Start().
  void Check();

  /// Returns what the last round has found.
  std::vector<Finding> Findings() const;
  /// Returns whether a finding of the last round is fatal.
  bool HasFatal() const { return fatal_.load(std::memory_order_relaxed); }

  /// The numbers of rounds, and of stages that got stuck, by kind.
  struct Counts {
    uint64_t rounds = 0;
    std::array<uint64_t, static_cast<size_t>(base::kLastStageKind) + 1> alarms = {};
  };
  Counts counts() const;

 private:
  void Run();
  std::vector<StageReport> Ask(uint64_t now_ns);
  void Log(const std::vector<Finding>& findings);

  const uint64_t period_ns_;
  base::StageList& stages_;
  const base::Clock& clock_;
  StallJudge judge_;  // used by Check() only
  /// The findings that were logged: the age at which each is logged again. Used by Check() only.
  struct Logged {
    Finding finding;
    uint64_t next_age_ns = 0;
  };
  std::map<std::pair<uint64_t, Finding::Kind>, Logged> logged_;

  mutable base::Mutex mutex_;
  base::ConditionVariable stopped_;
  bool stop_ NEREID_GUARDED_BY(mutex_) = false;
  std::vector<Finding> findings_ NEREID_GUARDED_BY(mutex_);
  Counts counts_ NEREID_GUARDED_BY(mutex_);
  std::atomic<bool> fatal_{false};
  std::thread thread_;
};

}  // namespace nereid::watchdog
