// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

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
#include "repository/repository_index.h"
#include "repository/repository_snapshot.h"
#include "repository/version_maker.h"
#include "repository/version_switch.h"

namespace nereid::repository {

/// Loads, replaces and unloads the models of a repository, and keeps the table of what serves.
/// Thread-safe. Loads of different models run side by side; operations on one model take turns.
///
/// It owns the parts and drives them: ModelRepositories plans what is to be loaded, LoadStates
/// gives the turn, LoadInOrder orders the models, LoadSteps loads each one, VersionMaker makes its
/// versions, and VersionSwitch puts them in the place of the old ones.
///
/// Locks, in the order in which a thread takes them:
///
///     look_mutex_  ->  a turn of LoadStates  ->  one mutex of one part
///
/// The mutexes of the parts (LoadStates, VersionSwitch, LivingVersions, ModelRepositories,
/// LoadGate) are leaves: none is taken while another is held. No model, table or agent is called or
/// let go under a leaf, because the end of a model takes those of VersionSwitch and LivingVersions.
///
/// Invariants:
/// - A version is in LivingVersions from before it is made until after it is destroyed. The
///   destructor waits for that, so that the reports of models always find this object.
/// - What a model was loaded from (LoadStates) and what serves (VersionSwitch) change in the same
///   turn, the table first.
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

  /// Looks at the repositories: loads every model that is new or has changed since the last look,
  /// and unloads those whose directories are gone. What cannot be loaded is tried again when it
  /// changes; where an older one serves instead, with every look. Where a file system gives no
  /// answer nothing is known, so nothing changes.
  LoadReport LoadAll();

  /// Loads these models; a name that no repository has is a failure of that model.
  LoadReport LoadModels(const std::set<std::string>& names);

  /// Loads or, if its files changed, reloads a model, with namespacing every one of that name, and
  /// returns when that is done. A failed reload leaves what serves in place. Versions whose files
  /// are as they were, under a configuration that differs in nothing but instance groups and
  /// version policy, go on serving with other instances. What overrides put in place stays until
  /// the repository's files change. The members of an ensemble are loaded first; ensembles that
  /// call what was loaded are checked and loaded anew, or taken out of service if they do not fit
  /// any more. While another operation changes one of all these models, this one waits;
  /// `is_abandoned` is asked now and then as long as it does (CANCELLED if so), and not any more
  /// once it has begun.
  base::Status Load(const std::string& name, LoadOverrides overrides = {},
                    const std::function<bool()>& is_abandoned = {});

  /// Takes a model, with namespacing every one of that name, out of service and returns at once; it
  /// is gone when its last request is. An unknown name is no failure. The ensembles that call it go
  /// with it, and come back when it does. `with_members`: also the members of an ensemble that were
  /// loaded for it and that nobody else calls.
  base::Status Unload(const std::string& name, bool with_members = false);
  void UnloadAll();

  /// Blocks until everything that was unloaded is gone, or `give_up` returns true; returns the
  /// versions that are still there: "name:version" each, as often as it was loaded.
  std::vector<std::string> WaitUntilGone(const std::function<bool()>& give_up) const {
    return living_.WaitUntilGone(give_up);
  }

  /// Adds a repository; see ModelRepositories::Register. Nothing is loaded.
  base::Status RegisterRepository(const std::string& path, const NameMapping& mapping) {
    return repositories_.Register(path, mapping);
  }
  /// Removes a repository. The models that serve go on.
  base::Status UnregisterRepository(const std::string& path) {
    return repositories_.Unregister(path);
  }

  /// Returns what is in flight at this moment: requests, and sequences whose next request may come.
  std::vector<BoundVersion> BoundVersions() const;
  /// Returns how many versions were made and are not destroyed.
  size_t LivingVersions() const { return living_.Count(); }
  /// The loads that pass it, and their end.
  LoadGate& gate() const { return *gate_; }

  /// Returns the table of this moment.
  std::shared_ptr<const ModelTable> Table() const { return served_.Table(); }

  /// Returns the models of the repositories as they are on disk, with the states of their versions.
  /// Blocks for as long as the file systems take; INTERNAL if one gives no answer.
  base::Result<std::vector<IndexEntry>> Index(bool ready_only) const;

  /// Returns the models that a directory's model calls; none if it is no ensemble.
  std::set<std::string> MembersOf(const ModelDirectory& directory) const {
    return repositories_.MembersOf(directory);
  }

  /// Returns whether every version that was loaded serves (versions that were unloaded do not
  /// count).
  bool AllReady() const { return Table()->AllReady(); }

 private:
  /// LoadAll with look_mutex_ held.
  LoadReport LoadChanged();
  /// Takes a turn for what `plan` adds, and loads it and the ensembles that call what is new.
  /// CANCELLED if the load was abandoned, or the failure of the plan.
  base::Status LoadInTurn(const LoadStates::Planner& plan,
                          const std::function<bool()>& is_abandoned, LoadJobs* jobs,
                          LoadReport* report);
  /// Loads members before their callers; returns the models that are new objects now.
  std::set<ModelId> LoadJobsInOrder(const LoadJobs& jobs, LoadReport* report);
  /// Takes a turn of its own, and loads the ensembles whose members' names mean other models now
  /// than when they were loaded.
  void ReloadRedirected();
  void UnloadModels(const std::vector<ModelId>& ids, bool with_members);

  const Options options_;
  const std::shared_ptr<LoadGate> gate_;
  ModelRepositories repositories_;
  repository::LivingVersions living_;
  VersionSwitch served_;
  LoadStates states_;
  VersionMaker maker_;
  LoadSteps steps_;
  std::mutex look_mutex_;        // one LoadAll at a time
  RepositorySnapshot snapshot_;  // of the last LoadAll; guarded by look_mutex_
};

}  // namespace nereid::repository
