// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "config/model_config.h"
#include "repository/load_gate.h"
#include "repository/load_job.h"
#include "repository/load_states.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/model_repositories.h"
#include "repository/requests/load_board.h"
#include "repository/settle/read_guard.h"
#include "repository/settle/settle_watch.h"
#include "repository/version_maker.h"
#include "repository/version_switch.h"

namespace nereid::repository {

/// Returns the failure of a load that returned kTorn.
base::Status TornFailure(const ModelId& id);

/// The steps that load one model and retire it:
///
///     gate -> files changed? -> still? -> poll -> (ensemble: link with the members) -> make ->
///     files unchanged meanwhile? -> switch
///
/// Files that were changed while they were read are read again. A step that fails ends the load,
/// and the versions that serve stay in service. There is one exception: an ensemble that no longer
/// fits its members is retired. Thread-safe for different models; the caller holds the turn of the
/// model.
class LoadSteps {
 public:
  /// The parts must outlive this object.
  LoadSteps(PollOptions poll, const SettleOptions& settle, const ModelRepositories& repositories,
            LoadStates& states, VersionSwitch& served, VersionMaker& maker, LoadGate& gate,
            LoadBoard& board);

  /// Loads the model, and records the result for ensembles that call it. UNAVAILABLE if the gate is
  /// closed or memory runs out, that of PollFailure if the files cannot be polled, INVALID_ARGUMENT
  /// if a version cannot be made or an ensemble does not fit its members.
  /// Returns kTorn if the files are changed again and again while they are read.
  base::Result<LoadOutcome> Load(const ModelId& id, const LoadJob& job);
  /// Retires all versions of the model; does nothing for an unknown model.
  void Retire(const ModelId& id);

 private:
  base::Result<LoadOutcome> LoadWithinMemory(const ModelId& id, const LoadJob& job, LoadRun& run);
  base::Result<LoadOutcome> LoadBehindGate(const ModelId& id, const LoadJob& given, LoadRun& run);
  /// Reads and loads the model once. Returns kTorn, and leaves what serves in service, if `guard`
  /// finds a change after the last file was read. `scanned`: see PollModel.
  base::Result<LoadOutcome> LoadOnce(const ModelId& id, const LoadJob& job, const ReadGuard& guard,
                                     const FileState* scanned, LoadRun& run);
  /// Waits until the files are still, and returns their guard. UNAVAILABLE if the gate is closed
  /// meanwhile, INVALID_ARGUMENT if the load ends early, INTERNAL if the files differ from their
  /// list of checksums.
  base::Result<ReadGuard> AwaitStill(const ModelId& id, const LoadJob& job, bool is_first,
                                     LoadRun& run);
  /// Returns whether the files were changed since the guard was made, and logs the first that was.
  bool IsTorn(const ModelId& id, const ReadGuard& guard) const;
  /// Returns the job of a member of the requested model with the overrides that the member serves
  /// with: a load of an ensemble does not take them back. Returns other jobs unchanged.
  LoadJob WithKeptOverrides(const ModelId& id, const LoadJob& job) const;
  /// Returns whether the model serves and its files have not changed since it was loaded.
  bool IsCurrent(const ModelId& id, const LoadJob& job) const;
  /// Returns whether the job of a scan is about a directory that holds no model, and none serves.
  bool IsLeftOut(const ModelId& id, const LoadJob& job, const PolledModel& polled) const;
  /// Names the directories that are no versions in the log, each once.
  void NameIgnored(const ModelId& id, const PolledModel& polled);
  /// Records and returns the failure of a model of which the version policy selects no version.
  base::Status NoVersion(const ModelId& id, const PolledModel& polled, LoadRun& run);
  /// Completes the configuration of an ensemble from its members, or retires the ensemble if it
  /// does not fit them. Does nothing for other models.
  base::Status Link(const ModelId& id, const LoadJob& job, PolledModel* polled);
  config::ModelConfigPtr ConfigOfUnserved(const ModelId& id) const;
  base::Result<LoadOutcome> MakeAndSwitch(const ModelId& id, const PolledModel& polled,
                                          const ReadGuard& guard, LoadRun& run);
  /// Records the basis of the serving versions, and tells the agents of the previous ones.
  void SetBasis(const ModelId& id, LoadBasis basis, std::shared_ptr<agent::AgentChain> agents);

  const PollOptions poll_;
  const SettleOptions settle_;
  const ModelRepositories& repositories_;
  LoadStates& states_;
  VersionSwitch& served_;
  VersionMaker& maker_;
  LoadGate& gate_;
  LoadBoard& board_;
  std::atomic<uint64_t> next_generation_{1};  // the number of the next load
  base::Mutex mutex_;
  // The subdirectories that the log has named.
  std::map<ModelId, std::set<std::string>> ignored_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
