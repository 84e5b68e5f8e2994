// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "config/model_config.h"
#include "repository/load_gate.h"
#include "repository/load_job.h"
#include "repository/load_states.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/model_repositories.h"
#include "repository/version_maker.h"
#include "repository/version_switch.h"

namespace nereid::repository {

/// The steps that load one model and retire it:
///
///     gate -> files changed? -> poll -> (ensemble: link with the members) -> make -> switch
///
/// A step that fails ends the load, and the versions that serve stay in service. There is one
/// exception: an ensemble that no longer fits its members is retired. Thread-safe for different
/// models; the caller holds the turn of the model.
class LoadSteps {
 public:
  /// The parts must outlive this object.
  LoadSteps(PollOptions poll, const ModelRepositories& repositories, LoadStates& states,
            VersionSwitch& served, const VersionMaker& maker, LoadGate& gate);

  /// Loads the model, and records the result for ensembles that call it. UNAVAILABLE if the gate is
  /// closed or memory runs out, INTERNAL if the files cannot be polled, INVALID_ARGUMENT if a
  /// version cannot be made or an ensemble does not fit its members.
  base::Result<LoadOutcome> Load(const ModelId& id, const LoadJob& job);
  /// Retires all versions of the model; does nothing for an unknown model.
  void Retire(const ModelId& id);

 private:
  base::Result<LoadOutcome> LoadWithinMemory(const ModelId& id, const LoadJob& job);
  base::Result<LoadOutcome> LoadBehindGate(const ModelId& id, const LoadJob& job);
  /// Returns whether the model serves and its files have not changed since it was loaded.
  bool IsCurrent(const ModelId& id, const LoadJob& job) const;
  /// Records and returns the failure of a model of which the version policy selects no version.
  base::Status NoVersion(const ModelId& id, const LoadJob& job);
  /// Completes the configuration of an ensemble from its members, or retires the ensemble if it
  /// does not fit them. Does nothing for other models.
  base::Status Link(const ModelId& id, const LoadJob& job, PolledModel* polled);
  config::ModelConfigPtr ConfigOfUnserved(const ModelId& id) const;
  base::Result<LoadOutcome> MakeAndSwitch(const ModelId& id, const PolledModel& polled);
  /// Records the basis of the serving versions, and tells the agents of the previous ones.
  void SetBasis(const ModelId& id, LoadBasis basis, std::shared_ptr<agent::AgentChain> agents);

  const PollOptions poll_;
  const ModelRepositories& repositories_;
  LoadStates& states_;
  VersionSwitch& served_;
  const VersionMaker& maker_;
  LoadGate& gate_;
  std::atomic<uint64_t> next_generation_{1};  // the number of the next load
};

}  // namespace nereid::repository
