// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/bound_versions.h"
#include "repository/living_versions.h"
#include "repository/load_gate.h"
#include "repository/load_job.h"
#include "repository/load_states.h"
#include "repository/load_steps.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/model_repositories.h"
#include "repository/model_table.h"
#include "repository/poll_filter.h"
#include "repository/repository_index.h"
#include "repository/repository_snapshot.h"
#include "repository/requests/load_board.h"
#include "repository/requests/load_requests.h"
#include "repository/settle/settle_watch.h"
#include "repository/version_maker.h"
#include "repository/version_switch.h"

namespace nereid::repository {

/// Loads, replaces and unloads the models of a repository, and keeps the table of the versions that
/// serve. Thread-safe. Loads of different models run in parallel; operations on one model take
/// turns.
///
/// It owns the parts and drives them: ModelRepositories plans the load, LoadStates gives the turn,
/// LoadInOrder orders the models, LoadSteps loads each one, VersionMaker creates its versions, and
/// VersionSwitch replaces the old versions by the new ones.
///
/// Locks, in the order in which a thread takes them:
///
///     look_mutex_  ->  a turn of LoadStates  ->  one mutex of one part
///
/// The mutexes of the parts (LoadStates, VersionSwitch, LivingVersions, ModelRepositories,
/// LoadGate) are leaves: none is taken while another is held. No model, table or agent is called or
/// released under a leaf, because the destruction of a model acquires the mutexes of VersionSwitch
/// and LivingVersions.
///
/// Invariants:
/// - A version is in LivingVersions from before its creation until after its destruction. The
///   destructor of this object waits for that, because models call it when they are destroyed.
/// - The basis of a model (LoadStates) and the table (VersionSwitch) change in the same turn, the
///   table first.
class ModelLifecycle {
 public:
  struct Options {
    PollOptions poll;
    uint32_t load_threads = 4;  // also read the files of the first scan
    uint32_t load_retries = 0;
    uint64_t load_timeout_ns = 0;  // of one model; its parameter load_timeout_secs overrides it
    /// Returns whether clients may cancel a load that begins now; null: always. If they may not, a
    /// load without a limit needs no thread that can be left behind, which makes the start with
    /// many models faster. Any thread may call it.
    std::function<bool()> has_clients = nullptr;
    /// Models of different repositories may have the same name.
    bool namespacing = false;
    /// When a change of files counts as complete.
    SettleOptions settle;
    /// Every load passes this gate. If null, the lifecycle creates its own.
    std::shared_ptr<LoadGate> gate;
    /// Decides which models LoadAll loads; null: all of them. Must outlive the lifecycle.
    PollFilter* filter = nullptr;
    /// Called by LoadAll before it loads models, with the number of those that are no ensembles;
    /// may be null. Must not call the lifecycle.
    std::function<void(size_t models)> on_planned = nullptr;
  };

  /// `loader` must outlive the lifecycle.
  ModelLifecycle(Options options, ModelLoader& loader);
  /// Unloads all models and waits until they are destroyed, because they call this object then.
  ~ModelLifecycle();

  /// Scans the repositories: loads every model that is new or has changed since the last scan, and
  /// unloads those whose directories were deleted. A model that cannot be loaded is tried again
  /// when its files change, or at every scan if an older version of it serves. A repository that
  /// cannot be read changes nothing. With a settle time, changes that are not complete are left to
  /// the following scans.
  LoadReport LoadAll();

  /// Loads these models. A name that is in no repository is reported as a failure of that model.
  LoadReport LoadModels(const std::set<std::string>& names);

  /// Loads a model, or reloads it if its files have changed, and returns afterwards. With
  /// namespacing, this applies to every model of that name. After a failed reload the old versions
  /// continue to serve. A version with unchanged files continues with changed instances if the
  /// configurations differ only in instance groups and version policy. Overrides stay in effect
  /// until the repository's files change. The members of an ensemble are loaded first. Ensembles
  /// that call a loaded model are checked and loaded again, or retired if they no longer fit. While
  /// another operation changes one of these models, this one waits and calls `is_abandoned` from
  /// time to time; if that returns true, the result is CANCELLED. A load that has begun does not
  /// end with its client. Requests for one model that wait are carried out together; see
  /// LoadRequests.
  base::Status Load(const std::string& name, LoadOverrides overrides = {},
                    const std::function<bool()>& is_abandoned = {});

  /// Retires a model, or with namespacing every model of that name, and returns at once. The model
  /// is destroyed after its last request. An unknown name is not an error. The ensembles that call
  /// the model are retired with it, and loaded again when it is loaded. With `with_members`,
  /// members that were loaded only for an unloaded ensemble are unloaded too.
  base::Status Unload(const std::string& name, bool with_members = false);
  /// Cancels the loads of a model: those that wait, and those that run. Returns how many requests
  /// and loads were cancelled. What served continues to serve.
  size_t CancelLoads(const std::string& name);
  /// Returns the records of the models' loads.
  const LoadBoard& board() const { return board_; }
  /// Returns the requests of clients for loads.
  const LoadRequests& requests() const { return requests_; }
  void UnloadAll();

  /// Blocks until all versions are destroyed or `give_up` returns true. Returns the remaining ones
  /// as "name:version", each as often as it was loaded.
  std::vector<std::string> WaitUntilGone(const std::function<bool()>& give_up) const {
    return living_.WaitUntilGone(give_up);
  }

  /// Adds a repository without loading its models; see ModelRepositories::Register.
  base::Status RegisterRepository(const std::string& path, const NameMapping& mapping) {
    return repositories_.Register(path, mapping);
  }
  /// Removes a repository. Its models that serve continue to serve.
  base::Status UnregisterRepository(const std::string& path) {
    return repositories_.Unregister(path);
  }

  /// Returns the versions that have requests in flight or sequences that have not ended.
  std::vector<BoundVersion> BoundVersions() const;
  /// Returns how many versions were created and are not destroyed.
  size_t LivingVersions() const { return living_.Count(); }
  /// Returns the gate that every load passes.
  LoadGate& gate() const { return *gate_; }

  /// Returns the current table.
  std::shared_ptr<const ModelTable> Table() const { return served_.Table(); }

  /// Scans the repositories and returns their models with the states of their versions. Blocks
  /// while the file systems are read; INTERNAL if one cannot be read.
  base::Result<std::vector<IndexEntry>> Index(bool ready_only) const;

  /// Returns how far the fetch of a model's directory is, for people; "" if it is not fetched.
  std::string FetchProgress(const std::string& directory) const {
    return options_.poll.storage->FetchProgress(directory);
  }

  /// Returns the directories of a model name; see ModelRepositories::Find.
  base::Result<std::vector<ModelDirectory>> FindDirectories(const std::string& name) const {
    return repositories_.Find(name);
  }

  /// Returns whether every version that was loaded serves (versions that were unloaded do not
  /// count).
  bool AllReady() const { return Table()->AllReady(); }

 private:
  /// Loads what has changed since the last scan.
  LoadReport LoadChanged() NEREID_REQUIRES(look_mutex_);
  /// Carries out the load of a model for all clients that wait for it.
  base::Status LoadNow(const std::string& name, const std::shared_ptr<const LoadOverrides>& given,
                       const std::function<bool()>& is_abandoned);
  /// Takes a turn for the models that `plan` adds, loads them, and then the ensembles that call the
  /// new ones.
  /// CANCELLED if the load was abandoned, or the failure of the plan.
  base::Status LoadInTurn(const LoadStates::Planner& plan,
                          const std::function<bool()>& is_abandoned, LoadJobs* jobs,
                          LoadReport* report);
  /// Loads members before their callers; returns the models that have new objects.
  std::set<ModelId> LoadJobsInOrder(const LoadJobs& jobs, LoadReport* report);
  /// Takes a turn and loads the ensembles in which a name now refers to another model than when
  /// they were loaded.
  void ReloadRedirected();
  void UnloadModels(const std::vector<ModelId>& ids, bool with_members);

  const Options options_;
  const std::shared_ptr<LoadGate> gate_;
  ModelRepositories repositories_;
  repository::LivingVersions living_;
  VersionSwitch served_;
  LoadStates states_;
  LoadRequests requests_;
  VersionMaker maker_;
  LoadBoard board_;
  LoadSteps steps_;
  base::Mutex look_mutex_;  // held during LoadAll: one scan at a time
  RepositorySnapshot snapshot_ NEREID_GUARDED_BY(look_mutex_);  // of the last LoadAll
  SettleWatch settle_watch_ NEREID_GUARDED_BY(look_mutex_);
};

}  // namespace nereid::repository
