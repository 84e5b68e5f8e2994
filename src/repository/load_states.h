// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/agent_chain.h"
#include "base/result.h"
#include "repository/ensemble_catalog.h"
#include "repository/file_state.h"
#include "repository/load_job.h"
#include "repository/load_plan.h"
#include "repository/model_id.h"
#include "repository/model_table.h"
#include "repository/unload_plan.h"

namespace nereid::repository {

/// What is known of the loads of each model: which operation has its turn, what the last load was
/// made of and how it ended, and the catalog of ensembles. Thread-safe.
///
/// Locks: one mutex guards everything. It is a leaf: no function calls a planner, an agent, a model
/// or the client's `is_abandoned` while it is held, and no model or table is let go under it.
///
/// Invariants:
/// - A model belongs to one turn at most. All models of an operation are taken at once, and no
///   operation takes a second turn while it has one, so that no two wait for each other.
/// - The basis, the agents and the ensemble of a model change only in a turn that holds the model.
class LoadStates {
 public:
  /// The models that an operation may change. While it lives, operations on any of them wait.
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
  /// Adds the models to be loaded, as their files say at this moment, to an empty map.
  using Planner = std::function<base::Status(LoadJobs*)>;

  /// `namespacing`: models of different repositories may have the same name.
  explicit LoadStates(bool namespacing) : catalog_(namespacing) {}

  /// Plans a load and waits until no other operation changes any of its models; then plans anew,
  /// because the files may have changed meanwhile. While it waits it asks `is_abandoned` every
  /// 100 ms (may be null), and returns CANCELLED once that is true. A load that need not wait is
  /// not asked. Fails as `plan` does.
  base::Result<Turn> TakeTurn(const Planner& plan, const std::function<bool()>& is_abandoned,
                              LoadJobs* jobs);
  /// Plans an unload and waits for its models in the same way. The models that leave are then no
  /// longer wanted, and their ensembles are forgotten. `with_members`: members that were loaded for
  /// an ensemble that leaves go too.
  UnloadTurn TakeUnloadTurn(const std::vector<ModelId>& ids, bool with_members);

  /// Returns the models of that name that were loaded, successfully or not, and not unloaded.
  std::vector<ModelId> ModelsNamed(const std::string& name) const;
  /// Returns what the versions that serve were loaded from; empty if none do.
  LoadBasis BasisOf(const ModelId& id) const;
  /// Sets the basis and the agents of what serves, and returns the agents of what served before.
  std::shared_ptr<agent::AgentChain> SetBasis(const ModelId& id, LoadBasis basis,
                                              std::shared_ptr<agent::AgentChain> agents);
  /// Notes that the model was loaded for itself, not for an ensemble.
  void SetWanted(const ModelId& id);
  void SetResult(const ModelId& id, base::Status result);
  /// Returns the result of the last load; success for a model that was not loaded.
  base::Status ResultOf(const ModelId& id) const;
  void Forget(const std::set<ModelId>& ids);

  void RememberEnsemble(const ModelId& id, KnownEnsemble ensemble);
  void ForgetEnsemble(const ModelId& id);
  /// Returns the configuration of an ensemble that is known; null for another model.
  config::ModelConfigPtr EnsembleConfig(const ModelId& id) const;
  /// See EnsembleCatalog::ResolveMembers.
  MemberIds ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                           const ModelTable& table) const;
  /// See EnsembleCatalog::Resolve.
  std::optional<ModelId> Resolve(const ModelId& caller, const std::string& name,
                                 const ModelTable& table) const;
  /// Returns what loads the callers of the models again, without those that `done` has.
  LoadJobs RepeatCallers(const std::set<ModelId>& ids, const LoadJobs& done) const;
  /// Returns what loads the redirected ensembles and their callers again.
  LoadJobs RepeatRedirected(const ModelTable& table) const;

 private:
  struct State {
    LoadBasis basis;                            // of what serves; empty where nothing does
    std::shared_ptr<agent::AgentChain> agents;  // of what serves
    bool is_wanted = false;                     // loaded for itself, not for an ensemble alone
    base::Status result;                        // of the last load
  };

  bool AreFree(const std::set<ModelId>& models) const;  // mutex_ is held

  mutable std::mutex mutex_;
  std::condition_variable turn_ended_;
  std::set<ModelId> busy_;           // guarded by mutex_: the models of all turns
  std::map<ModelId, State> states_;  // guarded by mutex_
  EnsembleCatalog catalog_;          // guarded by mutex_
};

}  // namespace nereid::repository
