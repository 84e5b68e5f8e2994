// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/settle_watch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/parallel.h"
#include "repository/settle/checksum_list.h"
#include "repository/settle/mix.h"

namespace nereid::repository {

using Verdict = SettlePlanner::Verdict;

namespace {

/// How far the wall clock may move against the monotonic one between two scans. Beyond, the times
/// of files are not compared with those of scans.
constexpr int64_t kMaxClockStepNs = 100'000'000;

uint64_t HashOf(const FileState& files) {
  uint64_t sum = Mix(files.entries.size());
  for (const auto& [name, hash] : files.entries) {
    sum += Mix(Mix(std::hash<std::string>{}(name)), hash);
  }
  return sum;
}

}  // namespace

bool IsClockSteady(const ScanMoment& last, const ScanMoment& now) {
  const int64_t wall = now.wall_ns - last.wall_ns;
  const auto steady = static_cast<int64_t>(now.now_ns - last.now_ns);
  return std::abs(wall - steady) <= kMaxClockStepNs;
}

ScanMoment SettleWatch::BeginScan() const {
  // The times of files come from the system's clock, so the wall time is not the option's.
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {options_.clock->NowNs(),
          std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()};
}

SettleWatch::Pending SettleWatch::Look(const ModelId& id,
                                       const RepositorySnapshot::Model& model) const {
  Pending now;
  if (IsUrl(model.path)) {
    now.fingerprint = HashOf(model.files);
    return now;
  }
  auto marks = ReadTreeMarks(model.path);
  // A directory that cannot be read changes at each scan: it is not accepted by waiting.
  if (!marks.ok()) {
    now.fingerprint = options_.clock->NowNs();
    return now;
  }
  now.fingerprint = Mix(Fingerprint(*marks), HashOf(model.files));
  now.marks = std::make_shared<const TreeMarks>(std::move(marks).value());
  if (!now.marks->contains(std::string(kChecksumListName))) return now;
  const auto before = pending_.find(id);
  if (before != pending_.end() && before->second.fingerprint == now.fingerprint) {
    now.checksums = before->second.checksums;
    now.problem = before->second.problem;
    return now;
  }
  const base::Status checked = CheckAgainstList(model.path, *now.marks);
  now.checksums = checked.ok() ? ChecksumState::kMatches : ChecksumState::kDiffers;
  now.problem = checked.message();
  return now;
}

ModelSight SettleWatch::SightOf(const ModelId& id, const std::string& path, const Pending& now,
                                const ScanMoment& moment) const {
  ModelSight sight;
  sight.fingerprint = now.fingerprint;
  sight.checksums = now.checksums;
  if (!last_) {
    // A list in an object store has no times to compare with: what is there at the start counts.
    sight.age_ns = UINT64_MAX;
    if (now.marks != nullptr) {
      const int64_t age = moment.wall_ns - LatestChangeNs(*now.marks);
      sight.age_ns = age < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(age));
    }
    return sight;
  }
  if (now.marks == nullptr || !IsClockSteady(*last_, moment)) return sight;
  LastScan last{.wall_ns = last_->wall_ns};
  const auto pending = pending_.find(id);
  const auto accepted = accepted_.find(id);
  if (pending != pending_.end()) {
    last.marks = pending->second.marks.get();
  } else if (accepted != accepted_.end()) {
    last.marks = accepted->second.get();
    last.was_accepted = true;
  }
  sight.arrived_whole = ArrivedWhole(last, *now.marks) && IsOnLocalDisk(path);
  return sight;
}

void SettleWatch::LogHeld(const ModelId& id, Verdict verdict, Pending* pending) const {
  const auto before = pending_.find(id);
  pending->is_logged = before != pending_.end() && before->second.is_logged &&
                       before->second.problem == pending->problem;
  if (std::exchange(pending->is_logged, true)) return;
  if (verdict == Verdict::kIncomplete) {
    LOG_WARNING_OF(.model = id.name) << "model '" << id << "' is not loaded: " << pending->problem;
    return;
  }
  LOG_INFO_OF(.model = id.name) << "model '" << id
                                << "' has changed; the change is applied when its files have been "
                                   "still for "
                                << options_.settle_ns / 1'000'000'000 << " s";
}

std::map<ModelId, SettleWatch::Pending> SettleWatch::LookAt(const SnapshotDifference& found,
                                                            const RepositorySnapshot& snapshot,
                                                            size_t threads) const {
  std::map<ModelId, Pending> pending;
  std::vector<std::pair<const ModelId, Pending>*> entries;
  for (const auto* ids : {&found.added, &found.changed}) {
    for (const ModelId& id : *ids) entries.push_back(&*pending.try_emplace(id).first);
  }
  base::ForEachOnThreads("model-scan", threads, entries.size(), [&](size_t i) {
    auto& [id, looked] = *entries[i];
    looked = Look(id, snapshot.models.at(id));
  });
  return pending;
}

SnapshotDifference SettleWatch::Hold(const ScanMoment& moment, const RepositorySnapshot& before,
                                     SnapshotReading* reading, size_t threads) {
  auto& models = reading->snapshot.models;
  const SnapshotDifference found = Compare(before, reading->snapshot);
  std::map<ModelId, Pending> pending = LookAt(found, reading->snapshot, threads);
  std::map<ModelId, ModelSight> sights;
  for (const auto& [id, looked] : pending) {
    sights[id] = SightOf(id, models.at(id).path, looked, moment);
  }
  for (const ModelId& id : found.removed) {
    pending[id] = {};
    sights[id] = {.is_missing = true};
  }
  const auto verdicts = planner_.Decide(sights, moment.now_ns, options_.clock->NowNs());
  for (const auto& [id, verdict] : verdicts) {
    if (verdict == Verdict::kAccept) {
      accepted_.erase(id);
      if (pending[id].marks != nullptr) accepted_[id] = std::move(pending[id].marks);
      pending.erase(id);
      continue;
    }
    LogHeld(id, verdict, &pending[id]);
    const auto known = before.models.find(id);
    if (known == before.models.end()) {
      models.erase(id);
    } else {
      models[id] = known->second;
    }
  }
  pending_ = std::move(pending);
  last_ = moment;
  return Compare(before, reading->snapshot);
}

std::shared_ptr<const TreeMarks> SettleWatch::AcceptedMarks(const ModelId& id) const {
  const auto found = accepted_.find(id);
  return found == accepted_.end() ? nullptr : found->second;
}

std::vector<ModelId> SettleWatch::IncompleteModels() const {
  std::vector<ModelId> incomplete;
  for (const auto& [id, pending] : pending_) {
    if (pending.checksums == ChecksumState::kDiffers) incomplete.push_back(id);
  }
  return incomplete;
}

}  // namespace nereid::repository
