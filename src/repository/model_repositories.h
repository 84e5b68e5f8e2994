// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/load_job.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// Returns INVALID_ARGUMENT for a name that is empty or that leads out of a repository.
base::Status CheckModelName(const std::string& name);

/// The model repositories of a server, which can be registered and unregistered while it runs.
/// Plans loads from their content. Nothing is cached: functions that need the content read the file
/// systems and block meanwhile. Thread-safe.
///
/// Locks: mutex_ guards only the list of repositories; no file is read while it is held.
class ModelRepositories {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  ModelRepositories(PollOptions options, bool namespacing);

  /// Adds a repository, so its models can be loaded. `mapping` gives models other names than their
  /// directories have. INVALID_ARGUMENT for a path that is not a directory or a name that is not
  /// allowed, ALREADY_EXISTS for a registered repository.
  base::Status Register(const std::string& path, const NameMapping& mapping);
  /// Removes a repository. INVALID_ARGUMENT if it is not registered.
  base::Status Unregister(const std::string& path);

  /// Returns the directories of all repositories.
  RepositoryScan Scan() const;
  /// Returns the directory of a model name; with namespacing all directories of that name.
  /// NOT_FOUND if there is none, INTERNAL if there are several without namespacing.
  base::Result<std::vector<ModelDirectory>> Find(const std::string& name) const;
  /// Returns the models that the ensemble in a directory calls; see ReadMembers.
  std::set<std::string> MembersOf(const ModelDirectory& directory) const {
    return ReadMembers(directory, options_);
  }

  /// Adds the model of that name (with namespacing: every model of that name) to `jobs`, and the
  /// members that it calls if they are in the repositories. A model whose overrides contain its
  /// files needs no directory. Logs the reason if there is no such model.
  base::Status PlanLoad(const std::string& name,
                        const std::shared_ptr<const LoadOverrides>& overrides,
                        LoadJobs* jobs) const;

 private:
  RepositoryList List() const;
  /// Returns the directories of a model name in the repositories of `list`. Sets `unread`, if it is
  /// not null, to why a repository could not be read.
  std::vector<ModelDirectory> FindIn(const RepositoryList& list, const std::string& name,
                                     base::Status* unread = nullptr) const;
  base::Result<std::vector<ModelDirectory>> LookUp(const std::string& name) const;
  /// Returns INVALID_ARGUMENT if there is no repository that can be read.
  base::Status CheckRepository(const std::string& path) const;
  ModelId IdOf(const ModelDirectory& directory) const {
    return repository::IdOf(directory, namespacing_);
  }
  void PlanWithMembers(LoadJob job, LoadJobs* jobs) const;
  /// Returns the jobs of the members that are in exactly one repository of `list`.
  std::vector<LoadJob> FindMembers(const LoadJob& caller, const RepositoryList& list) const;

  const PollOptions options_;
  const bool namespacing_;
  mutable base::Mutex mutex_;
  RepositoryList repositories_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
