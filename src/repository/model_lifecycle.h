// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_snapshot.h"
#include "repository/load_gate.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/model_table.h"
#include "repository/repository_snapshot.h"

namespace nereid::repository {

/// One line of the repository index; empty members are absent in the answer.
struct IndexEntry {
  std::string name;
  std::string version;
  std::string state;
  std::string reason;
};

/// Loads, replaces and unloads the models of a repository, and keeps the table of what serves.
/// Thread-safe. Loads of different models run side by side; operations on one model take turns.
class ModelLifecycle {
 public:
  struct Options {
    PollOptions poll;
    uint32_t load_threads = 4;
    uint32_t load_retries = 0;
    /// Models of different repositories may have the same name.
    bool namespacing = false;
    /// Every load passes it; null: one that nobody else sees.
    std::shared_ptr<LoadGate> gate;
  };

  /// `loader` must outlive the lifecycle.
  ModelLifecycle(Options options, ModelLoader& loader);
  /// Unloads everything and waits until it is gone: models report to this object when they go.
  ~ModelLifecycle();

  /// The outcome of loading many models.
  struct LoadReport {
    std::map<std::string, base::Status> failures;    // by model, as messages name it
    std::map<std::string, base::Status> unreadable;  // by path, the repositories that gave no list
  };

  /// Looks at the repositories: loads every model that is new or has changed since the last look,
  /// and unloads those whose directories are gone. What cannot be loaded is tried again when it
  /// changes; where an older one serves instead, with every look. Where a file system gives no
  /// answer nothing is known, so nothing changes.
  LoadReport LoadAll();

  /// Loads these models; a name that no repository has is a failure of that model.
  LoadReport LoadModels(const std::set<std::string>& names);

  /// Loads or, if its files changed, reloads a model, with namespacing every one of that name, and
  /// returns when that is done. A failed
  /// reload leaves what serves in place. Versions whose files are as they were, under a
  /// configuration that differs in nothing but instance groups and version policy, go on serving
  /// with other instances. What overrides put in place stays until the repository's files change.
  /// The members of an ensemble are loaded first; ensembles that call what was loaded are checked
  /// and loaded anew, or taken out of service if they do not fit any more. While another operation
  /// changes one of all these models, this one waits; `is_abandoned` is asked now and then as long
  /// as it does (CANCELLED if so), and not any more once it has begun.
  base::Status Load(const std::string& name, LoadOverrides overrides = {},
                    const std::function<bool()>& is_abandoned = {});

  /// Takes a model, with namespacing every one of that name, out of service and returns at once; it
  /// is gone when its last request is. An unknown name is no failure. The ensembles that call it go
  /// with it, and come back when it does. `with_members`: also the members of an ensemble that were
  /// loaded for it and that nobody else calls.
  base::Status Unload(const std::string& name, bool with_members = false);
  void UnloadAll();

  /// Blocks until everything that was unloaded is gone, or `deadline` says to give up; returns the
  /// versions that are still there: "name:version" each, as often as it was loaded.
  std::vector<std::string> WaitUntilGone(const std::function<bool()>& give_up);

  /// Models of this repository can be loaded from now on; the mapping gives them other names than
  /// their directories have. Nothing is loaded. INVALID_ARGUMENT for what is no directory or for a
  /// name that cannot be, ALREADY_EXISTS for a repository that is there.
  base::Status RegisterRepository(const std::string& path, const NameMapping& mapping);
  /// The models that serve go on. INVALID_ARGUMENT for a repository that is not there.
  base::Status UnregisterRepository(const std::string& path);

  /// A version that requests are bound to, or that is on its way out, and by how many.
  struct BoundVersion {
    ModelId id;
    int64_t version = 0;
    size_t requests = 0;   // at least so many, or sequences; who looks at it for a moment counts
    bool leaving = false;  // it was taken out of service, and something still holds it
  };
  /// What is in flight at this moment: requests, and sequences whose next request may come.
  std::vector<BoundVersion> BoundVersions() const;
  /// How many versions were made and are not destroyed.
  size_t LivingVersions() const;
  /// The loads that pass it, and their end.
  LoadGate& gate() { return *gate_; }
  const LoadGate& gate() const { return *gate_; }

  /// The table of this moment.
  std::shared_ptr<const ModelTable> Table() const { return table_.Load(); }

  /// The models of the repositories as they are on disk, with the states of their versions. Blocks
  /// for as long as the file systems take; INTERNAL if one gives no answer.
  base::Result<std::vector<IndexEntry>> Index(bool ready_only) const;

  /// The models that a directory's model calls; none if it is no ensemble.
  std::set<std::string> MembersOf(const ModelDirectory& directory) const {
    return ReadMembers(directory, options_.poll);
  }

  /// Whether every version that was loaded serves (versions that were unloaded do not count).
  bool AllReady() const;

 private:
  struct ModelState {
    LoadBasis basis;                            // of what serves; empty where nothing does
    std::shared_ptr<agent::AgentChain> agents;  // of what serves
    bool is_wanted = false;                     // loaded for itself, not for an ensemble alone
    base::Status failure;                       // of the last load
  };
  /// Which models an ensemble calls, by the names in its configuration; nothing for a name that
  /// means none, or several.
  using MemberIds = std::map<std::string, std::optional<ModelId>>;
  /// A model to be loaded.
  struct LoadJob {
    ModelDirectory directory;
    std::shared_ptr<const LoadOverrides> overrides = nullptr;  // null: none
    std::set<std::string> members = {};                        // that its configuration names
    bool is_wanted = false;                                    // for itself
    bool again = false;                                        // although nothing has changed

    const LoadOverrides& Overrides() const;
  };
  using LoadJobs = std::map<ModelId, LoadJob>;
  /// An ensemble that was loaded, or that could not be, and was not unloaded since.
  struct KnownEnsemble {
    LoadJob job;
    config::ModelConfigPtr config;
    MemberIds members;
  };
  enum class Loaded { kUnchanged, kUpdated, kAnew };
  /// A version that a load has made, or the reason why it has not.
  using LoadedVersions = std::map<int64_t, base::Result<std::shared_ptr<LoadedModel>>>;

  /// The models that an operation may change. As long as it lives, operations on any of them wait.
  /// All are taken at once, so that no two operations wait for each other.
  class Turn {
   public:
    /// The owner's mutex_ is held, and the models are free.
    Turn(ModelLifecycle& owner, std::set<ModelId> models);
    Turn(Turn&& other) noexcept;
    ~Turn();

   private:
    ModelLifecycle* owner_;
    std::set<ModelId> models_;
  };
  /// Adds what is to be loaded, as the files say now.
  using Planner = std::function<base::Status(LoadJobs*)>;

  /// Plans, and waits until nobody else changes any of the models; then plans anew, because the
  /// files may be others by now.
  base::Result<Turn> TakeTurn(const Planner& plan, const std::function<bool()>& is_abandoned,
                              LoadJobs* jobs);
  bool AreFree(const std::set<ModelId>& models) const;      // mutex_ is held
  std::set<ModelId> TouchedBy(const LoadJobs& jobs) const;  // mutex_ is held
  LoadReport LoadChanged();
  /// The states of the directories in a new snapshot; what cannot be read is as it was.
  RepositorySnapshot ReadSnapshot(const RepositoryScan& scan,
                                  std::map<ModelId, ModelDirectory>* directories,
                                  LoadReport* report) const;
  base::Result<Loaded> LoadOne(const LoadJob& job);
  base::Result<Loaded> LoadNow(const LoadJob& job);
  /// LoadNow; UNAVAILABLE where memory runs out.
  base::Result<Loaded> LoadWithinMemory(const LoadJob& job);
  base::Result<Loaded> LoadVersions(const PolledModel& polled);
  ModelId IdOf(const ModelDirectory& directory) const {
    return {directory.name, options_.namespacing ? directory.repository : std::string()};
  }
  /// How many directories mean the same model.
  std::map<ModelId, size_t> CountById(const std::vector<ModelDirectory>& directories) const;
  /// Puts the ensemble's members into its configuration, or takes it out of service.
  base::Status Link(const LoadJob& job, PolledModel* polled);
  /// The model that a step of `caller` means by a name: the one of its own namespace, or the only
  /// one elsewhere. Models that are neither loaded nor known to have failed do not count.
  std::optional<ModelId> ResolveMember(const ModelId& caller, const std::string& name) const;
  MemberIds ResolveMembers(const ModelId& caller, const config::ModelConfig& ensemble) const;
  config::ModelConfigPtr ConfigOfUnserved(const ModelId& id) const;
  /// Loads in the order of the members; returns those that are new objects now.
  std::set<ModelId> RunInOrder(const LoadJobs& jobs, LoadReport* report);
  /// The same, and then loads the ensembles that call what is new. The caller has the turn.
  void RunWithCallers(const LoadJobs& jobs, LoadReport* report);
  /// A turn of its own: loads the ensembles whose members' names mean other models now than when
  /// they were loaded.
  void ReloadRedirected();
  /// Adds ensembles that are known, to be loaded again.
  void AddAgain(const std::vector<ModelId>& ensembles, LoadJobs* jobs) const;
  /// The ensembles that call the model, also through others; the outermost first.
  std::vector<ModelId> CallersOf(const ModelId& id) const;  // mutex_ is held
  std::vector<ModelId> Redirected() const;
  /// Adds the model of that name and the members that it calls, as far as the repositories have
  /// them. With namespacing every model of that name.
  base::Status Plan(const std::string& name, const std::shared_ptr<const LoadOverrides>& overrides,
                    LoadJobs* jobs) const;
  void PlanWithMembers(LoadJob job, LoadJobs* jobs) const;
  /// What an unload takes along.
  struct UnloadPlan {
    std::set<ModelId> leaving;   // are not to come back by themselves
    std::vector<ModelId> order;  // in which to take them, and those that call them, out of service
  };
  UnloadPlan PlanUnload(std::vector<ModelId> ids, bool with_members) const;  // mutex_ is held
  /// Whether an ensemble that stays calls the model. mutex_ is held.
  bool IsCalled(const ModelId& id, const std::set<ModelId>& leaving) const;
  void UnloadModels(const std::vector<ModelId>& ids, bool with_members);
  /// Takes the model out of service. The caller has the turn.
  void Retire(const ModelId& id);
  LoadedVersions MakeVersions(const PolledModel& polled, uint64_t generation, Loaded* what);
  base::Result<std::shared_ptr<LoadedModel>> MakeVersion(const VersionSource& source,
                                                         VersionAction action, uint64_t generation);
  /// Puts what was made into the table in the place of what served.
  void Switch(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// Says in the table what became of the versions that do not serve.
  void NoteFailure(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// What serves was loaded from this; tells the agents of what served before.
  void SetBasis(const ModelId& id, LoadBasis basis, std::shared_ptr<agent::AgentChain> agents);
  std::shared_ptr<LoadedModel> ServingModel(const ModelId& id, int64_t version) const;
  RepositoryList Repositories() const;
  /// The one directory of that name; with namespacing all of them.
  base::Result<std::vector<ModelDirectory>> FindDirectories(const std::string& name) const;
  void OnDestroyed(const ModelId& id, int64_t version, uint64_t generation);
  /// Makes a new table by `change`, and publishes it.
  void Change(const std::function<void(ModelTable::Models&)>& change);

  const Options options_;
  const std::shared_ptr<LoadGate> gate_;
  ModelLoader& loader_;
  std::mutex look_mutex_;        // one LoadAll at a time
  RepositorySnapshot snapshot_;  // of the last LoadAll; guarded by look_mutex_
  base::SharedSnapshot<ModelTable> table_;
  std::mutex table_mutex_;  // serialises Change
  mutable std::mutex mutex_;
  std::condition_variable changed_;             // a turn is over, or a model is gone
  std::set<ModelId> busy_;                      // guarded by mutex_: the models of all turns
  std::map<ModelId, ModelState> states_;        // guarded by mutex_
  std::map<ModelId, KnownEnsemble> ensembles_;  // guarded by mutex_
  RepositoryList repositories_;                 // guarded by mutex_
  // guarded by mutex_: made and not destroyed
  std::multiset<std::pair<ModelId, int64_t>> living_;
  std::atomic<uint64_t> next_generation_{1};
};

}  // namespace nereid::repository
