// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/agent_chain.h"
#include "base/result.h"
#include "config/model_config.h"
#include "repository/load_overrides.h"
#include "repository/load_plan.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// A directory that holds a model.
struct ModelDirectory {
  std::string name;
  std::string path;
  std::string repository = {};  // the path of the one that it is in; empty for files of a load
};

/// Returns the id of a directory's model; without namespacing its name is enough.
ModelId IdOf(const ModelDirectory& directory, bool namespacing);
/// Returns how many of the directories mean the same model.
std::map<ModelId, size_t> CountById(const std::vector<ModelDirectory>& directories,
                                    bool namespacing);

/// Other names for the models of a repository: directory by model name. A directory that is named
/// here is found by that name alone.
using NameMapping = std::map<std::string, std::string>;

/// Model repositories: paths of directories, and the names that their models have.
using RepositoryList = std::map<std::string, NameMapping>;

/// Repositories whose models are named as their directories.
RepositoryList PlainRepositories(const std::set<std::string>& paths);

/// How repositories are read.
struct PollOptions {
  std::set<std::string> repositories;  // paths of directories, to begin with
  bool strict_config = false;          // the backend will not complete configurations
  std::string config_name;             // configs/<name>.pbtxt is preferred where it exists
  /// Whom models ask for their repository agents; null where there are none.
  agent::AgentRegistry* agents = nullptr;
};

/// What repositories hold at a moment.
struct RepositoryScan {
  /// Sorted by name, then by repository. A name that several repositories have is there several
  /// times.
  std::vector<ModelDirectory> directories;
  /// By path, the repositories that cannot be read (INTERNAL), of which nothing is known.
  std::map<std::string, base::Status> failures;

  /// Success, or the first failure.
  base::Status status() const {
    return failures.empty() ? base::Status::Ok() : failures.begin()->second;
  }
};

/// Looks at all repositories. Blocks for as long as their file systems take.
RepositoryScan ScanRepositories(const RepositoryList& repositories);

/// The directories that a model of this name has: one for each repository that knows it.
std::vector<ModelDirectory> FindModelDirectories(const RepositoryList& repositories,
                                                 const std::string& name);

/// What the directory of one model says, before anything is loaded.
struct PolledModel {
  ModelDirectory directory;
  LoadBasis basis;  // its configuration is completed from the files, normalised, valid
  std::vector<int64_t> versions;  // what the version policy selects of what is there; may be empty
  /// The agents that the configuration names; they have run LOAD. Null without agents.
  std::shared_ptr<agent::AgentChain> agents;
  /// The files of overrides, if there are any, and the agents: needed for as long as the model.
  std::shared_ptr<const void> origin;
};

/// The models that the configuration in `directory`, or the one of `overrides`, calls as an
/// ensemble; none for a model that is no ensemble or cannot be read. A glance, before anything is
/// checked.
std::set<std::string> ReadMembers(const ModelDirectory& directory, const PollOptions& options,
                                  const LoadOverrides& overrides = {});

/// Returns what a client is told of a poll failure; the reason is in the log alone. `model` is as
/// messages name it.
base::Status PollFailure(const std::string& model);

/// Reads and checks a model's directory, or what stands in for it. A failure hides the model:
/// Triton calls it a poll failure.
base::Result<PolledModel> PollModel(const ModelDirectory& directory, const PollOptions& options,
                                    const LoadOverrides& overrides = {});

}  // namespace nereid::repository
