// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/settle_planner.h"

#include <algorithm>
#include <utility>

namespace nereid::repository {

SettlePlanner::Verdict SettlePlanner::DecideOne(const ModelSight& sight,
                                                const Observation& observation,
                                                uint64_t began_ns) const {
  if (!sight.is_missing) {
    if (sight.checksums == ChecksumState::kDiffers) return Verdict::kIncomplete;
    if (sight.checksums == ChecksumState::kMatches || sight.arrived_whole) return Verdict::kAccept;
    if (sight.age_ns && *sight.age_ns >= settle_ns_) return Verdict::kAccept;
  }
  const uint64_t still_ns = began_ns - std::min(began_ns, observation.since_ns);
  return still_ns >= settle_ns_ ? Verdict::kAccept : Verdict::kWait;
}

std::map<ModelId, SettlePlanner::Verdict> SettlePlanner::Decide(
    const std::map<ModelId, ModelSight>& sights, uint64_t began_ns, uint64_t ended_ns) {
  std::map<ModelId, Verdict> verdicts;
  std::map<ModelId, Observation> observed;
  for (const auto& [id, sight] : sights) {
    Observation seen{sight.is_missing, sight.is_missing ? 0 : sight.fingerprint, ended_ns};
    const auto before = observed_.find(id);
    if (before != observed_.end() && before->second.is_missing == seen.is_missing &&
        before->second.fingerprint == seen.fingerprint) {
      seen.since_ns = before->second.since_ns;
    }
    const Verdict verdict = DecideOne(sight, seen, began_ns);
    seen.waits_for_time = verdict == Verdict::kWait;
    verdicts.emplace(id, verdict);
    observed.emplace(id, seen);
  }
  observed_ = std::move(observed);
  return verdicts;
}

std::optional<uint64_t> SettlePlanner::NextDueNs() const {
  std::optional<uint64_t> next;
  for (const auto& [id, seen] : observed_) {
    if (!seen.waits_for_time) continue;
    next = std::min(next.value_or(UINT64_MAX), seen.since_ns + settle_ns_);
  }
  return next;
}

}  // namespace nereid::repository
