// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/agent_chain.h"
#include "base/mutex.h"
#include "base/result.h"
#include "repository/ensemble_catalog.h"
#include "repository/file_state.h"
#include "repository/load_job.h"
#include "repository/load_plan.h"
#include "repository/model_id.h"
#include "repository/model_table.h"
#include "repository/unload_plan.h"

namespace nereid::repository {

/// The state of the loads of each model: which operation has its turn, the basis and the result of
/// the last load, and the catalog of ensembles. Thread-safe.
///
/// Locks: one mutex guards everything. It is a leaf: no function calls a planner, an agent, a model
/// or the client's `is_abandoned` while it is held, and no model or table is released under it.
///
/// Invariants:
/// - A model belongs to one turn at most. All models of an operation are taken at once, and no
///   operation takes a second turn while it has one, so two operations cannot wait for each other.
/// - The basis, the agents and the ensemble of a model change only in a turn that holds the model.
class LoadStates {
 public:
  /// The models that an operation may change. While the turn exists, other operations on any of
  /// them wait.
  class Turn {
   public:
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class LoadStates;
    Turn(LoadStates& states, std::set<ModelId> models);

    LoadStates* states_;  // null after a move
    std::set<ModelId> models_;
  };
  struct UnloadTurn {
    UnloadPlan plan;
    Turn turn;
  };
  /// Adds the models to load, according to their files at this moment, to an empty map.
  using Planner = std::function<base::Status(LoadJobs*)>;

  /// `namespacing`: models of different repositories may have the same name.
  explicit LoadStates(bool namespacing) : catalog_(namespacing) {}

  /// Plans a load and waits until no other operation has a turn with any of its models. After a
  /// wait it plans again, because the files may have changed. While it waits it calls
  /// `is_abandoned` (may be null) every 100 ms and returns CANCELLED if that returns true. Returns
  /// the error of `plan` if it fails.
  base::Result<Turn> TakeTurn(const Planner& plan, const std::function<bool()>& is_abandoned,
                              LoadJobs* jobs);
  /// Plans an unload and waits for its models in the same way. The unloaded models are then no
  /// longer wanted, and the ensembles among them are removed from the catalog. With `with_members`,
  /// members that were loaded only for an unloaded ensemble are unloaded too.
  UnloadTurn TakeUnloadTurn(const std::vector<ModelId>& ids, bool with_members);

  /// Returns the models of that name that were loaded, successfully or not, and not unloaded.
  std::vector<ModelId> ModelsNamed(const std::string& name) const;
  /// Returns the basis of the versions that serve; empty if none serves.
  LoadBasis BasisOf(const ModelId& id) const;
  /// Sets the basis and the agents of the versions that serve, and returns the previous agents.
  std::shared_ptr<agent::AgentChain> SetBasis(const ModelId& id, LoadBasis basis,
                                              std::shared_ptr<agent::AgentChain> agents);
  /// Records that the model was requested itself, not only as a member of an ensemble.
  void SetWanted(const ModelId& id);
  /// Records the result of a load.
  void SetResult(const ModelId& id, base::Status result);
  /// Returns the result of the last load; OK for a model that was not loaded.
  base::Status ResultOf(const ModelId& id) const;
  /// Removes the state of the models, but not their ensembles.
  void Forget(const std::set<ModelId>& ids);

  void RememberEnsemble(const ModelId& id, KnownEnsemble ensemble);
  void ForgetEnsemble(const ModelId& id);
  /// Returns the configuration of an ensemble of the catalog; null for another model.
  config::ModelConfigPtr EnsembleConfig(const ModelId& id) const;
  /// See EnsembleCatalog::ResolveMembers.
  MemberIds ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                           const ModelTable& table) const;
  /// See EnsembleCatalog::Resolve.
  std::optional<ModelId> Resolve(const ModelId& caller, const std::string& name,
                                 const ModelTable& table) const;
  /// Returns the jobs that load the callers of the models again, except those in `done`.
  LoadJobs RepeatCallers(const std::set<ModelId>& ids, const LoadJobs& done) const;
  /// Returns the jobs that load the redirected ensembles and their callers again.
  LoadJobs RepeatRedirected(const ModelTable& table) const;

 private:
  struct State {
    LoadBasis basis;                            // of the serving versions; empty if none serves
    std::shared_ptr<agent::AgentChain> agents;  // of the serving versions
    bool is_wanted = false;                     // requested itself, not only by an ensemble
    base::Status result;                        // of the last load
  };

  bool AreFree(const std::set<ModelId>& models) const NEREID_REQUIRES(mutex_);
  UnloadPlan MakeUnloadPlan(const std::vector<ModelId>& ids, bool with_members) const
      NEREID_REQUIRES(mutex_);
  Turn BeginTurn(std::set<ModelId> models) NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  base::ConditionVariable turn_ended_;
  std::set<ModelId> busy_ NEREID_GUARDED_BY(mutex_);  // the models of all turns
  std::map<ModelId, State> states_ NEREID_GUARDED_BY(mutex_);
  EnsembleCatalog catalog_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
