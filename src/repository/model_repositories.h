// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/load_job.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// Returns INVALID_ARGUMENT for a name that is empty or that leads out of a repository.
base::Status CheckModelName(const std::string& name);

/// The model repositories of a server, which can be registered and unregistered while it runs, and
/// the loads that are planned from what is in them. Nothing is cached: each function that reads
/// looks at the file systems and blocks for as long as they take. Thread-safe.
///
/// Locks: mutex_ guards the list of repositories alone; no file is read while it is held.
class ModelRepositories {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  ModelRepositories(PollOptions options, bool namespacing);

  /// Models of this repository can be loaded from now on; the mapping gives them other names than
  /// their directories have. INVALID_ARGUMENT for a path that is no directory or for a name that
  /// is not allowed, ALREADY_EXISTS for a repository that is registered.
  base::Status Register(const std::string& path, const NameMapping& mapping);
  /// INVALID_ARGUMENT for a repository that is not registered.
  base::Status Unregister(const std::string& path);

  /// Returns the directories of all repositories.
  RepositoryScan Scan() const { return ScanRepositories(List()); }
  /// Returns the only directory of a model of that name; with namespacing all of them. INTERNAL if
  /// there is none, or several without namespacing; the log says which.
  base::Result<std::vector<ModelDirectory>> Find(const std::string& name) const;
  /// Returns the models that the configuration in a directory calls as an ensemble.
  std::set<std::string> MembersOf(const ModelDirectory& directory) const {
    return ReadMembers(directory, options_);
  }

  /// Adds the model of that name and the members that it calls, as far as the repositories have
  /// them, to `jobs`; with namespacing every model of that name. A model whose overrides hold its
  /// files needs no directory.
  base::Status PlanLoad(const std::string& name,
                        const std::shared_ptr<const LoadOverrides>& overrides,
                        LoadJobs* jobs) const;

 private:
  RepositoryList List() const;
  ModelId IdOf(const ModelDirectory& directory) const {
    return repository::IdOf(directory, namespacing_);
  }
  void PlanWithMembers(LoadJob job, LoadJobs* jobs) const;
  /// Returns the loads of the members that a job's configuration names and that are in `list` once.
  std::vector<LoadJob> FindMembers(const LoadJob& caller, const RepositoryList& list) const;

  const PollOptions options_;
  const bool namespacing_;
  mutable std::mutex mutex_;
  RepositoryList repositories_;  // guarded by mutex_
};

}  // namespace nereid::repository
