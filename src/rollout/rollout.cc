// SPDX-License-Identifier: Apache-2.0
#include "rollout/rollout.h"

#include <cmath>
#include <utility>

#include "base/duration.h"
#include "base/log.h"

namespace nereid::rollout {
namespace {

std::optional<uint64_t> Quantile(const telemetry::SummarySnapshot& summary, size_t index) {
  const double value = summary.quantiles[index].second;
  if (std::isnan(value)) return std::nullopt;
  return static_cast<uint64_t>(value);
}

}  // namespace

Rollout::Rollout(std::string model, RolloutPlan plan, uint64_t rollbacks, const base::Clock& clock,
                 RunElsewhere run)
    : model_(std::move(model)),
      plan_(std::move(plan)),
      earlier_rollbacks_(rollbacks),
      clock_(clock),
      shadow_(plan_.shadow
                  ? std::make_shared<ShadowTraffic>(model_, *plan_.shadow, clock, std::move(run))
                  : nullptr),
      versions_(CountsFor(plan_)) {
  if (plan_.rollback) window_.emplace(base::Duration::Seconds(plan_.rollback->window_seconds).ns());
}

std::map<int64_t, Rollout::VersionCounts> Rollout::CountsFor(const RolloutPlan& plan) {
  std::map<int64_t, VersionCounts> counts;
  for (const auto& [label, version] : plan.labels) counts.try_emplace(version);
  if (plan.split) {
    for (const Weight& weight : plan.split->weights) counts.try_emplace(weight.target.version);
  }
  if (plan.rollback) counts.try_emplace(plan.rollback->target.version);
  return counts;
}

void Rollout::OnEnd(int64_t version, Outcome outcome, uint64_t latency_ns, uint64_t now_ns) {
  const auto found = versions_.find(version);
  if (found == versions_.end()) return;
  VersionCounts& counts = found->second;
  counts.requests.fetch_add(1, std::memory_order_relaxed);
  if (outcome == Outcome::kCancelled) return;
  if (outcome != Outcome::kSuccess) {
    counts.failures.fetch_add(1, std::memory_order_relaxed);
  } else {
    const base::MutexLock lock(counts.mutex);
    counts.latencies_us.Observe(latency_ns / 1000, now_ns);
  }
  if (plan_.rollback && plan_.rollback->target.version == version) {
    Watch(outcome, latency_ns, now_ns);
  }
}

void Rollout::Watch(Outcome outcome, uint64_t latency_ns, uint64_t now_ns) {
  const Rollback& rule = *plan_.rollback;
  if (outcome == Outcome::kInvalid && !rule.counts_invalid) return;
  const bool slow = rule.max_latency_us && latency_ns / 1000 > *rule.max_latency_us;
  std::optional<std::string> reason;
  {
    const base::MutexLock lock(window_mutex_);
    if (event_) return;
    window_->Add(outcome != Outcome::kSuccess, slow, now_ns);
    reason = WhyRollBack(rule, window_->Total(now_ns));
    if (!reason) return;
    event_ = RollbackEvent{rule.target.version, *reason, clock_.WallMs()};
    is_rolled_back_.store(true, std::memory_order_release);
  }
  LOG_WARNING_OF(.model = model_) << "model '" << model_ << "': version " << rule.target.version
                                  << " is rolled back: " << *reason;
}

std::optional<RollbackEvent> Rollout::rollback() const {
  const base::MutexLock lock(window_mutex_);
  return event_;
}

uint64_t Rollout::Rollbacks() const {
  return earlier_rollbacks_ + (is_rolled_back_.load(std::memory_order_acquire) ? 1 : 0);
}

RolloutStatus Rollout::Status(uint64_t now_ns) const {
  RolloutStatus status;
  status.model = model_;
  status.plan = plan_;
  for (const auto& [version, counts] : versions_) {
    VersionStatus& one = status.versions.emplace_back();
    one.version = version;
    one.requests = counts.requests.load(std::memory_order_relaxed);
    one.failures = counts.failures.load(std::memory_order_relaxed);
    const base::MutexLock lock(counts.mutex);
    const auto summary = counts.latencies_us.Snapshot({0.5, 0.99}, now_ns);
    one.p50_us = Quantile(summary, 0);
    one.p99_us = Quantile(summary, 1);
  }
  if (plan_.split) {
    for (const Weight& weight : plan_.split->weights) {
      for (VersionStatus& one : status.versions) {
        if (one.version == weight.target.version) one.parts = PartsOf(weight);
      }
    }
  }
  if (shadow_ != nullptr) {
    status.shadow = shadow_->Counts();
    status.first_difference = shadow_->LoggedDifference();
  }
  status.rollback = rollback();
  status.rollbacks = Rollbacks();
  return status;
}

}  // namespace nereid::rollout
