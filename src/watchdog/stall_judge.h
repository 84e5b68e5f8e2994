// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/stages.h"

namespace nereid::watchdog {

/// A stage and what it said in one round.
struct StageReport {
  uint64_t id = 0;
  base::StageFacts facts = {};
  std::optional<base::StageSample> sample = std::nullopt;  // nothing: its lock was held
};

/// A stage that does not move, or work that takes long.
struct Finding {
  enum class Kind : uint8_t {
    kStuck,      // work waits, and the stage does not begin it
    kExecuting,  // an execution of a model takes long, which may be right
  };
  uint64_t id = 0;  // of the stage
  Kind kind = Kind::kStuck;
  base::StageFacts facts = {};
  uint64_t age_ns = 0;
  std::string detail = {};

  /// Returns whether the server is of no use as long as this lasts.
  bool IsFatal() const { return kind == Kind::kStuck && facts.must_move; }
};

/// Decides which stages are stuck, from what they say in each round. Has neither lock nor clock.
///
/// A round counts for as long as it came after the previous one, but for two periods at most. So a
/// process that was stopped or a machine that slept, in which nothing could move, is not taken for
/// a server whose stages are stuck; nor is a stage that waits while the watchdog itself gets no
/// CPU.
class StallJudge {
 public:
  /// A stage is stuck after `bound_ns`. The rounds should come every `period_ns`.
  StallJudge(uint64_t bound_ns, uint64_t period_ns) : bound_ns_(bound_ns), period_ns_(period_ns) {}

  /// Takes the reports of all stages at `now_ns`, and returns the findings in their order.
  std::vector<Finding> Judge(const std::vector<StageReport>& reports, uint64_t now_ns);

 private:
  /// For how long the judge has seen one thing.
  struct Seen {
    uint64_t since_ns = 0;  // which one: when it began
    uint64_t age_ns = 0;    // 0: not seen in the last round
  };
  struct StageState {
    Seen blocked;
    Seen working;
    bool was_unknown = false;  // the lock was held in the last round
    uint64_t unknown_since_ns = 0;
  };

  void Observe(const StageReport& report, uint64_t now_ns, uint64_t credit_ns, StageState* state);
  static void Count(uint64_t since_ns, uint64_t now_ns, uint64_t credit_ns, Seen* seen);

  const uint64_t bound_ns_;
  const uint64_t period_ns_;
  uint64_t last_ns_ = 0;  // of the last round; 0: none
  std::map<uint64_t, StageState> states_;
};

}  // namespace nereid::watchdog
