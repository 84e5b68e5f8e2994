// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_snapshot.h"
#include "repository/loaded_model.h"
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
  };

  /// `loader` must outlive the lifecycle.
  ModelLifecycle(Options options, ModelLoader& loader);
  /// Unloads everything and waits until it is gone: models report to this object when they go.
  ~ModelLifecycle();

  /// The outcome of loading many models.
  struct LoadReport {
    std::map<std::string, base::Status> failures;  // by model
  };

  /// Looks at the repositories: loads every model that is new or has changed since the last look,
  /// and unloads those whose directories are gone. What cannot be loaded is tried again when it
  /// changes; where an older one serves instead, with every look. The failure is about the
  /// repositories themselves.
  base::Result<LoadReport> LoadAll();

  /// Loads these models; a name that no repository has is a failure of that model.
  LoadReport LoadModels(const std::set<std::string>& names);

  /// Loads or, if its files changed, reloads one model, and returns when that is done. A failed
  /// reload leaves what serves in place. Versions whose files are as they were, under a
  /// configuration that differs in nothing but instance groups and version policy, go on serving
  /// with other instances. What overrides put in place stays until the repository's files change.
  base::Status Load(const std::string& name, const LoadOverrides& overrides = {});

  /// Takes a model out of service and returns at once; it is gone when its last request is. An
  /// unknown name is no failure.
  base::Status Unload(const std::string& name);
  void UnloadAll();

  /// Blocks until everything that was unloaded is gone, or `deadline` says to give up; returns the
  /// number of versions that are still there.
  size_t WaitUntilGone(const std::function<bool()>& give_up);

  /// Models of this repository can be loaded from now on; the mapping gives them other names than
  /// their directories have. Nothing is loaded. INVALID_ARGUMENT for what is no directory or for a
  /// name that cannot be, ALREADY_EXISTS for a repository that is there.
  base::Status RegisterRepository(const std::string& path, const NameMapping& mapping);
  /// The models that serve go on. INVALID_ARGUMENT for a repository that is not there.
  base::Status UnregisterRepository(const std::string& path);

  /// The table of this moment.
  std::shared_ptr<const ModelTable> Table() const { return table_.Load(); }

  /// The models of the repositories as they are on disk, with the states of their versions.
  base::Result<std::vector<IndexEntry>> Index(bool ready_only) const;

  /// Whether every version that was loaded serves (versions that were unloaded do not count).
  bool AllReady() const;

 private:
  struct ModelState {
    bool busy = false;                          // an operation is under way
    LoadBasis basis;                            // of what serves; empty where nothing does
    std::shared_ptr<agent::AgentChain> agents;  // of what serves
  };
  /// A version that a load has made, or the reason why it has not.
  using LoadedVersions = std::map<int64_t, base::Result<std::shared_ptr<LoadedModel>>>;

  base::Result<LoadReport> LoadChanged();
  base::Status LoadLocked(const ModelDirectory& directory, const LoadOverrides& overrides);
  base::Status LoadVersions(const PolledModel& polled);
  LoadedVersions MakeVersions(const PolledModel& polled, uint64_t generation);
  base::Result<std::shared_ptr<LoadedModel>> MakeVersion(const VersionSource& source,
                                                         VersionAction action, uint64_t generation);
  /// Puts what was made into the table in the place of what served.
  void Switch(const std::string& name, const LoadedVersions& loaded, uint64_t generation);
  /// Says in the table what became of the versions that do not serve.
  void NoteFailure(const std::string& name, const LoadedVersions& loaded, uint64_t generation);
  /// What serves was loaded from this; tells the agents of what served before.
  void SetBasis(const std::string& name, LoadBasis basis,
                std::shared_ptr<agent::AgentChain> agents);
  std::shared_ptr<LoadedModel> ServingModel(const std::string& name, int64_t version) const;
  RepositoryList Repositories() const;
  base::Result<ModelDirectory> FindDirectory(const std::string& name) const;
  void RunAll(const std::vector<ModelDirectory>& directories, LoadReport* report);
  void OnDestroyed(const std::string& name, int64_t version, uint64_t generation);
  /// Makes a new table by `change`, and publishes it.
  void Change(const std::function<void(ModelTable::Models&)>& change);
  void Acquire(const std::string& name);
  void Release(const std::string& name);

  const Options options_;
  ModelLoader& loader_;
  RepositorySnapshot snapshot_;  // of the last LoadAll; these take turns
  base::SharedSnapshot<ModelTable> table_;
  std::mutex table_mutex_;  // serialises Change
  mutable std::mutex mutex_;
  std::condition_variable changed_;           // a model is no longer busy, or is gone
  std::map<std::string, ModelState> states_;  // guarded by mutex_
  RepositoryList repositories_;               // guarded by mutex_
  size_t living_ = 0;                         // guarded by mutex_: models made and not destroyed
  std::atomic<uint64_t> next_generation_{1};
};

}  // namespace nereid::repository
