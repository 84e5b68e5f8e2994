// SPDX-License-Identifier: Apache-2.0
#include "model/cpu/thread_curve.h"

#include <algorithm>
#include <utility>

namespace nereid::model {

std::vector<int> ThreadLadder(int cpus) {
  std::vector<int> ladder;
  for (int64_t threads = 1; threads < cpus && ladder.size() + 1 < kMaxRungs; threads *= 4) {
    ladder.push_back(static_cast<int>(threads));
  }
  ladder.push_back(std::max(1, cpus));
  return ladder;
}

std::string_view ThreadReasonLabel(ThreadReason reason) {
  constexpr std::array<std::string_view, kThreadReasons> kLabels = {"fixed",   "short", "measuring",
                                                                    "no_gain", "idle",  "shared"};
  return kLabels[static_cast<size_t>(reason)];
}

size_t ThreadCurve::Fastest(size_t allowed, RungSet prepared) const {
  size_t fastest = 0;
  for (size_t rung = 1; rung <= allowed; ++rung) {
    if (!prepared.Contains(rung) || !Known(rung)) continue;
    if (points_[rung].mean_ns * kMargin < points_[fastest].mean_ns) fastest = rung;
  }
  return fastest;
}

std::optional<size_t> ThreadCurve::NextTrial(size_t allowed, RungSet failed) const {
  std::optional<double> above;
  for (size_t rung = allowed; rung > 0; --rung) {
    if (failed.Contains(rung)) continue;
    if (points_[rung].samples < kTrial) return rung;
    if (above && points_[rung].mean_ns > *above * kMargin) return std::nullopt;
    above = points_[rung].mean_ns;
  }
  if (points_[0].samples < kTrial) return 0;
  return std::nullopt;
}

void ThreadCurve::MaybeMeasureAgain(size_t allowed, RungSet prepared, uint64_t now_ns) {
  if (now_ns < next_retrial_ns_) return;
  const size_t fastest = Fastest(allowed, prepared);
  std::optional<size_t> neighbour;
  for (int attempt = 0; attempt < 2 && !neighbour; ++attempt) {
    try_above_ = !try_above_;
    if (try_above_ && fastest < allowed) {
      // In turns with the far end, whose duration need not lie beyond that of the neighbour.
      neighbour = std::exchange(try_far_, !try_far_) ? allowed : fastest + 1;
    }
    if (!try_above_ && fastest > 0) neighbour = fastest - 1;
    if (neighbour && !prepared.Contains(*neighbour)) neighbour.reset();
  }
  lost_ns_ = 0;
  next_retrial_ns_ = now_ns + kRetrialNs / hurry_;
  if (!neighbour) return;
  points_[*neighbour].samples = 0;
  hurry_ = std::max<uint64_t>(1, hurry_ / 2);
}

ThreadChoice ThreadCurve::Choose(size_t allowed, RungSet prepared, RungSet failed,
                                 uint64_t now_ns) {
  if (rungs_ == 1) return {0, ThreadReason::kFixed, {}};
  if (!points_[0].settled) return {0, ThreadReason::kMeasuring, {}};
  if (IsShort()) return {0, ThreadReason::kShort, {}};
  if (allowed == 0) return {0, ThreadReason::kShared, {}};
  const std::optional<size_t> trial = NextTrial(allowed, failed);
  if (trial && prepared.Contains(*trial)) return {*trial, ThreadReason::kMeasuring, {}};
  if (!trial) MaybeMeasureAgain(allowed, prepared, now_ns);
  ThreadChoice choice;
  choice.rung = Fastest(allowed, prepared);
  choice.prepare = trial;
  if (allowed + 1 < rungs_ && choice.rung == allowed) {
    choice.reason = ThreadReason::kShared;
  } else if (choice.rung == 0) {
    choice.reason = trial ? ThreadReason::kMeasuring : ThreadReason::kNoGain;
  } else {
    choice.reason = ThreadReason::kIdle;
  }
  return choice;
}

void ThreadCurve::Record(size_t rung, uint64_t execution_ns, uint64_t now_ns) {
  Point& point = points_[rung];
  if (!point.warm) {
    point.warm = true;
    return;
  }
  // A single execution that another program held up must not decide.
  constexpr double kMostOutlier = 4;
  constexpr uint32_t kWindow = 8;
  const auto duration = static_cast<double>(std::max<uint64_t>(1, execution_ns));
  const bool on_trial = point.samples < kTrial;
  if (point.samples == 0 || (on_trial && duration * 2 < point.mean_ns)) {
    // Also if the earlier ones were much slower: a framework that compiled the model, for example.
    point.mean_ns = duration;
  } else {
    const double step = std::min(duration, kMostOutlier * point.mean_ns) - point.mean_ns;
    point.mean_ns += step / std::min(point.samples + 1, kWindow);
  }
  point.samples = std::min(point.samples + 1, kWindow);
  point.settled = point.settled || point.samples >= kTrial;
  if (!on_trial) return;
  double best = duration;
  for (size_t other = 0; other < rungs_; ++other) {
    if (Known(other)) best = std::min(best, points_[other].mean_ns);
  }
  lost_ns_ += duration - best;
  const auto wait = static_cast<uint64_t>(lost_ns_) * kRetrialFactor;
  next_retrial_ns_ = now_ns + std::max(kRetrialNs, wait) / hurry_;
}

}  // namespace nereid::model
