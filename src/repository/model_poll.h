// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent_chain.h"
#include "base/result.h"
#include "config/model_config.h"
#include "repository/load_overrides.h"
#include "repository/load_plan.h"
#include "repository/model_id.h"
#include "repository/repository_storage.h"

namespace nereid::repository {

/// The directory of a model.
struct ModelDirectory {
  std::string name;
  std::string path;
  std::string repository = {};  // the path of its repository; empty for files of a load request
  /// Whether `name` comes from a NameMapping. It then replaces the name in the configuration, which
  /// was written for the name of the directory.
  bool is_renamed = false;
};

/// Returns the id of a directory's model.
ModelId IdOf(const ModelDirectory& directory, bool namespacing);
/// Returns how many of the directories have the same model id.
std::map<ModelId, size_t> CountById(const std::vector<ModelDirectory>& directories,
                                    bool namespacing);

/// Other names for the models of a repository: directories by model name. A directory in this map
/// can only be loaded by that name.
using NameMapping = std::map<std::string, std::string>;

/// Model repositories: paths of directories, each with the names of its models.
using RepositoryList = std::map<std::string, NameMapping>;

/// Returns repositories without other names: each model has the name of its directory.
RepositoryList PlainRepositories(const std::set<std::string>& paths);

/// Options for reading repositories.
struct PollOptions {
  std::set<std::string> repositories;  // paths of the repositories that exist from the start
  bool strict_config = false;          // the backend will not complete configurations
  std::string config_name;             // configs/<name>.pbtxt is used if it exists
  std::string backend_directory;       // the libraries of the backends
  /// Creates the repository agents of models; null without agents.
  agent::AgentRegistry* agents = nullptr;
  /// Reads the repositories.
  std::shared_ptr<RepositoryStorage> storage = LocalStorage();
};

/// The model directories of all repositories at one moment.
struct RepositoryScan {
  /// Sorted by name, then by repository. A name in several repositories is listed several times.
  std::vector<ModelDirectory> directories;
  /// By path, the repositories that cannot be read (INTERNAL). Their models are unknown.
  std::map<std::string, base::Status> failures;

  /// Returns OK or the first failure.
  base::Status status() const {
    return failures.empty() ? base::Status::Ok() : failures.begin()->second;
  }
};

/// Keeps, of the directories with the same model id, those whose name comes from a NameMapping if
/// there are any: who maps a name decides which directory it means, as in Triton.
void PreferMapped(bool namespacing, std::vector<ModelDirectory>* directories);

/// Lists all repositories. Hidden directories (".git") are no models, unless a mapping names them.
/// Blocks while the file systems and stores are read.
RepositoryScan ScanRepositories(const RepositoryList& repositories, RepositoryStorage& storage);

/// Returns the directories of a model name: one for each repository that has it. A repository that
/// cannot be read is logged and has none; `failure`, if not null, gets the error.
std::vector<ModelDirectory> FindModelDirectories(const RepositoryList& repositories,
                                                 const std::string& name,
                                                 RepositoryStorage& storage,
                                                 base::Status* failure = nullptr);

/// A model's directory that was read and checked, before anything is loaded.
struct PolledModel {
  ModelDirectory directory;
  LoadBasis basis;  // the configuration is completed from the files, normalized and valid
  config::ModelConfigPtr written;  // as it was read
  std::vector<int64_t> versions;   // those that exist and that the version policy selects
  /// The subdirectories that are no versions, each with the reason (config::WhyNoVersion).
  std::map<std::string, std::string_view> ignored;
  /// The agents of the configuration, after their action LOAD. Null without agents.
  std::shared_ptr<agent::AgentChain> agents;
  /// Keeps the files of overrides, the copies of remote files and the agents. It must outlive the
  /// model.
  std::shared_ptr<const void> origin;
};

/// Returns the models that an ensemble calls, by the configuration in `directory` or in
/// `overrides`; empty for other models and for configurations that cannot be read. Nothing is
/// checked.
std::set<std::string> ReadMembers(const ModelDirectory& directory, const PollOptions& options,
                                  const LoadOverrides& overrides = {});

/// Returns the configuration that is written for the model, in `directory` or in `overrides`,
/// without reading other files of a remote model. NOT_FOUND if there is none.
base::Result<config::ModelConfigPtr> ReadWrittenConfig(const ModelDirectory& directory,
                                                       const PollOptions& options,
                                                       const LoadOverrides& overrides = {});

/// Returns the error of a load request after a poll failure: Triton's text, then the reason.
/// `model` is the name of the model in messages. The code is that of the reason: NOT_FOUND if there
/// is no such model, INVALID_ARGUMENT if the request is wrong, INTERNAL if the files are.
base::Status PollFailure(const std::string& model, const base::Status& reason);

/// Reads and checks a model's directory, or the overrides that replace it. After a failure, which
/// Triton calls a poll failure, the model does not appear in the repository. `scanned` is the state
/// of the files that a scan has read just before; null: a local directory's state is read here.
base::Result<PolledModel> PollModel(const ModelDirectory& directory, const PollOptions& options,
                                    const LoadOverrides& overrides = {},
                                    const FileState* scanned = nullptr);

}  // namespace nereid::repository
