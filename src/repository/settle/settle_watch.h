// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "repository/repository_snapshot.h"
#include "repository/settle/settle_planner.h"
#include "repository/settle/tree_marks.h"

namespace nereid::repository {

/// When changes of models count as complete.
struct SettleOptions {
  uint64_t settle_ns = 0;  // 0: at once
  const base::Clock* clock = &base::SteadyClock();
};

/// The beginning of a scan, before its directories are read.
struct ScanMoment {
  uint64_t now_ns = 0;  // monotonic
  int64_t wall_ns = 0;  // since the Unix epoch
};

/// Returns whether the wall clock was not set between two scans, so that the times of files can be
/// compared with those of the scans.
bool IsClockSteady(const ScanMoment& last, const ScanMoment& now);

/// Observes the models of the repositories from scan to scan, and holds the changes back that are
/// not complete. The decisions are SettlePlanner's. Not thread-safe.
class SettleWatch {
 public:
  explicit SettleWatch(const SettleOptions& options)
      : options_(options), planner_(options.settle_ns) {}

  ScanMoment BeginScan() const;

  /// Reverts the incomplete changes in a new reading: a model that is new is left out, and a
  /// changed or deleted one is as in `before`. Returns the difference that remains. Reads the files
  /// of models that differ, on up to `threads` threads; with lists of checksums also their content.
  /// The held changes are logged.
  SnapshotDifference Hold(const ScanMoment& moment, const RepositorySnapshot& before,
                          SnapshotReading* reading, size_t threads = 1);

  /// Returns the marks of a local model's files that were accepted; null for other models.
  std::shared_ptr<const TreeMarks> AcceptedMarks(const ModelId& id) const;
  /// Returns the models that the last scan left as they were because they differ from their lists.
  std::vector<ModelId> IncompleteModels() const;
  /// Returns when the next scan may accept a change, if no further change comes; nothing if no
  /// change waits.
  std::optional<uint64_t> NextDueNs() const { return planner_.NextDueNs(); }

 private:
  using Marks = std::shared_ptr<const TreeMarks>;
  /// A model that a scan found different from what was accepted.
  struct Pending {
    Marks marks;  // null for a remote or a missing model
    uint64_t fingerprint = 0;
    ChecksumState checksums = ChecksumState::kNoList;
    std::string problem = {};  // why it differs from its list
    bool is_logged = false;
  };

  /// Looks at the models that are new or have changed.
  std::map<ModelId, Pending> LookAt(const SnapshotDifference& found,
                                    const RepositorySnapshot& snapshot, size_t threads) const;
  Pending Look(const ModelId& id, const RepositorySnapshot::Model& model) const;
  ModelSight SightOf(const ModelId& id, const std::string& path, const Pending& now,
                     const ScanMoment& moment) const;
  void LogHeld(const ModelId& id, SettlePlanner::Verdict verdict, Pending* pending) const;

  const SettleOptions options_;
  SettlePlanner planner_;
  std::optional<ScanMoment> last_;
  std::map<ModelId, Pending> pending_;  // the changes that the last scan held
  std::map<ModelId, Marks> accepted_;   // of local models
};

}  // namespace nereid::repository
