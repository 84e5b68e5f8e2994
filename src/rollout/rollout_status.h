// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollout/rollout_plan.h"

namespace nereid::rollout {

/// What the requests of one version did since the rollout began.
struct VersionStatus {
  int64_t version = 0;
  bool ready = false;     // set by the server
  uint32_t parts = 0;     // the weight that holds at this moment
  uint64_t requests = 0;  // that have ended
  uint64_t failures = 0;
  // Of the successful requests of the last minute; nothing without any.
  std::optional<uint64_t> p50_us;
  std::optional<uint64_t> p99_us;
};

/// What became of the copies of requests.
struct ShadowCounts {
  uint64_t equal = 0;
  uint64_t different = 0;
  uint64_t failed = 0;   // the shadow version answered with an error
  uint64_t dropped = 0;  // not sent or not compared
  uint64_t in_flight = 0;
};

/// A rollback that has happened.
struct RollbackEvent {
  int64_t version = 0;
  std::string reason;
  uint64_t wall_ms = 0;  // since the Unix epoch
};

/// A rollout at one moment.
struct RolloutStatus {
  std::string model;
  RolloutPlan plan;
  std::vector<VersionStatus> versions;  // those that the plan names, by number
  ShadowCounts shadow;
  std::string first_difference;  // the last one that was logged; empty without one
  std::optional<RollbackEvent> rollback;
  uint64_t rollbacks = 0;  // of this model, also under earlier plans
};

}  // namespace nereid::rollout
