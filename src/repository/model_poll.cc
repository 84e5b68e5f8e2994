// SPDX-License-Identifier: Apache-2.0
#include "repository/model_poll.h"

#include <algorithm>

#include "base/files.h"
#include "base/log.h"
#include "config/complete/complete.h"
#include "config/parse/parse.h"
#include "config/rules/validate.h"
#include "config/version_policy.h"
#include "layout/advise.h"
#include "model_config.pb.h"
#include "repository/config_file.h"
#include "repository/ensemble_links.h"

namespace nereid::repository {

using base::Status;

namespace {

/// Returns the configuration of a local directory; an empty one if there is no file and the backend
/// may complete configurations.
base::Result<config::ModelConfigPtr> ReadConfig(const std::string& directory,
                                                const PollOptions& options) {
  const std::string path = ConfigFilePath(directory, options.config_name);
  const auto text = base::ReadFile(path, kMaxConfigFileBytes);
  if (text.ok()) return config::ParseModelConfigText(*text, path);
  if (options.strict_config || base::PathExists(path)) return text.status();
  return config::ParseModelConfigText("", path);
}

/// The objects that must outlive the model. The agents are destroyed first, then the files.
struct Origin {
  std::shared_ptr<const base::TemporaryDirectory> files;
  std::shared_ptr<const void> copy;  // of remote files
  std::shared_ptr<const agent::AgentChain> agents;
};

base::Result<config::ModelConfigPtr> WrittenConfig(const std::string& directory,
                                                   const PollOptions& options,
                                                   const LoadOverrides& overrides) {
  if (!overrides.config) return ReadConfig(directory, options);
  auto parsed = config::ParseModelConfigJson(*overrides.config);
  if (!parsed.ok()) return parsed.status().WithPrefix("Invalid config override: ");
  return parsed;
}

/// Returns the configuration in the repository or in the overrides. Of a remote model no other file
/// is read.
base::Result<config::ModelConfigPtr> RepositoryConfig(const std::string& directory,
                                                      const PollOptions& options,
                                                      const LoadOverrides& overrides) {
  if (overrides.config) return WrittenConfig(directory, options, overrides);
  NEREID_ASSIGN_OR_RETURN(const auto read,
                          options.storage->ReadConfig(directory, options.config_name));
  if (!read) return Status::NotFound("there is no configuration in '" + directory + "'");
  return config::ParseModelConfigText(read->text, read->path);
}

config::ModelConfigPtr Named(const config::ModelConfig& config, const std::string& name) {
  inference::ModelConfig proto = config.proto();
  proto.set_name(name);
  return config::ModelConfig::Create(std::move(proto));
}

/// Runs the action LOAD of the agents of the configuration, and continues with the directory that
/// they return.
Status RunAgents(const config::ModelConfig& written, const PollOptions& options,
                 PolledModel* polled) {
  if (options.agents == nullptr) {
    return Status::Unsupported("model '" + polled->directory.name +
                               "': there are no model repository agents here");
  }
  const auto named = [&](const config::ModelConfig& config) {
    const bool has_name = !config.proto().name().empty() && !polled->directory.is_renamed;
    return Named(config, has_name ? config.proto().name() : polled->directory.name);
  };
  NEREID_ASSIGN_OR_RETURN(
      polled->agents, agent::AgentChain::Load(
                          *options.agents, *named(written), polled->directory.path,
                          [&](const std::string& path) -> base::Result<config::ModelConfigPtr> {
                            NEREID_ASSIGN_OR_RETURN(const auto moved, ReadConfig(path, options));
                            return named(*moved);
                          }));
  polled->directory.path = polled->agents->directory();
  polled->basis.staged = true;
  return Status::Ok();
}

/// Finds the versions that the policy selects, and the other subdirectories.
void FindVersions(const config::ModelFiles& files, PolledModel* polled) {
  const config::ModelConfig& config = *polled->basis.config;
  std::vector<int64_t> available;
  for (const auto& [name, entries] : files.subdirectories) {
    if (const auto version = config::ParseVersionDirectory(name)) {
      available.push_back(*version);
    } else if (const auto reason = config::WhyNoVersion(name); !reason.empty()) {
      polled->ignored.emplace(name, reason);
    }
  }
  config::VersionSelection selection = config::SelectVersions(config.version_policy(), available);
  for (const int64_t missing : selection.missing) {
    LOG_ERROR_OF(.model = config.name())
        << "version " << missing << " is specified for model '" << config.name()
        << "', but the version directory is not present";
  }
  polled->versions = std::move(selection.versions);
}

/// Returns whether a directory is one that tools keep for themselves (".git",
/// ".ipynb_checkpoints").
bool IsHidden(const std::string& name) { return name.starts_with('.'); }

}  // namespace

ModelId IdOf(const ModelDirectory& directory, bool namespacing) {
  return {directory.name, namespacing ? directory.repository : std::string()};
}

std::map<ModelId, size_t> CountById(const std::vector<ModelDirectory>& directories,
                                    bool namespacing) {
  std::map<ModelId, size_t> counts;
  for (const ModelDirectory& directory : directories) ++counts[IdOf(directory, namespacing)];
  return counts;
}

void PreferMapped(bool namespacing, std::vector<ModelDirectory>* directories) {
  std::set<ModelId> mapped;
  for (const ModelDirectory& directory : *directories) {
    if (directory.is_renamed) mapped.insert(IdOf(directory, namespacing));
  }
  std::erase_if(*directories, [&](const ModelDirectory& directory) {
    return !directory.is_renamed && mapped.contains(IdOf(directory, namespacing));
  });
}

Status PollFailure(const std::string& model, const Status& reason) {
  return reason.WithPrefix("failed to load '" + model +
                           "', failed to poll from model repository: ");
}

RepositoryList PlainRepositories(const std::set<std::string>& paths) {
  RepositoryList list;
  for (const std::string& path : paths) list[path];
  return list;
}

RepositoryScan ScanRepositories(const RepositoryList& repositories, RepositoryStorage& storage) {
  RepositoryScan scan;
  for (const auto& [path, mapping] : repositories) {
    auto listed = storage.ListModels(path);
    if (!listed.ok()) {
      scan.failures[path] = Status::Internal(listed.status().message());
      continue;
    }
    std::vector<std::string> names = std::move(listed).value();
    for (const auto& [model, directory] : mapping) {
      if (std::erase(names, directory) == 0) continue;
      scan.directories.push_back({model, base::JoinPath(path, directory), path, true});
    }
    for (const std::string& name : names) {
      if (IsHidden(name)) continue;
      scan.directories.push_back({name, base::JoinPath(path, name), path});
    }
  }
  std::stable_sort(scan.directories.begin(), scan.directories.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  return scan;
}

std::vector<ModelDirectory> FindModelDirectories(const RepositoryList& repositories,
                                                 const std::string& name,
                                                 RepositoryStorage& storage, Status* failure) {
  std::vector<ModelDirectory> found;
  const auto add = [&](const std::string& repository, const std::string& directory,
                       bool is_renamed) {
    std::string path = base::JoinPath(repository, directory);
    const auto exists = storage.HasModel(path);
    if (!exists.ok()) {
      LOG_ERROR_OF(.model = name) << "failed to look for model '" << name
                                  << "': " << exists.status().message();
      if (failure != nullptr) *failure = exists.status();
    } else if (*exists) {
      found.push_back({name, std::move(path), repository, is_renamed});
    }
  };
  for (const auto& [repository, mapping] : repositories) {
    const auto mapped = mapping.find(name);
    if (mapped != mapping.end()) add(repository, mapped->second, true);
    const bool renamed = std::any_of(mapping.begin(), mapping.end(),
                                     [&](const auto& entry) { return entry.second == name; });
    if (mapped == mapping.end() && !renamed && !IsHidden(name)) add(repository, name, false);
  }
  return found;
}

base::Result<config::ModelConfigPtr> ReadWrittenConfig(const ModelDirectory& directory,
                                                       const PollOptions& options,
                                                       const LoadOverrides& overrides) {
  return RepositoryConfig(directory.path, options, overrides);
}

std::set<std::string> ReadMembers(const ModelDirectory& directory, const PollOptions& options,
                                  const LoadOverrides& overrides) {
  if (!overrides.config) {
    // Most models are not ensembles. Their text, in which a field's name cannot be escaped, is not
    // worth parsing.
    const auto read = options.storage->ReadConfig(directory.path, options.config_name);
    if (!read.ok() || !*read) return {};
    if ((*read)->text.find("ensemble_scheduling") == std::string::npos) return {};
    const auto parsed = config::ParseModelConfigText((*read)->text, (*read)->path);
    return parsed.ok() ? MembersOf(**parsed) : std::set<std::string>{};
  }
  const auto written = WrittenConfig(directory.path, options, overrides);
  return written.ok() ? MembersOf(**written) : std::set<std::string>{};
}

base::Result<PolledModel> PollModel(const ModelDirectory& directory, const PollOptions& options,
                                    const LoadOverrides& overrides, const FileState* scanned) {
  PolledModel polled;
  polled.directory = directory;
  auto origin = std::make_shared<Origin>();
  if (!overrides.files.empty()) {
    NEREID_ASSIGN_OR_RETURN(origin->files, StageFiles(overrides));
    polled.directory.path = origin->files->path();
    polled.basis.staged = true;
  } else if (scanned != nullptr && !IsUrl(directory.path)) {
    polled.basis.files = *scanned;
  } else {
    // Read first: after a change during the following reads, the model counts as modified at the
    // next scan.
    NEREID_ASSIGN_OR_RETURN(LocalFiles local, options.storage->Fetch(directory.path));
    polled.directory.path = std::move(local.path);
    polled.basis.files = std::move(local.state);
    origin->copy = std::move(local.keeper);
  }
  polled.basis.configured =
      overrides.config.has_value() ||
      base::PathExists(ConfigFilePath(polled.directory.path, options.config_name));
  NEREID_ASSIGN_OR_RETURN(config::ModelConfigPtr written,
                          WrittenConfig(polled.directory.path, options, overrides));
  if (directory.is_renamed) written = Named(*written, directory.name);
  if (written->proto().model_repository_agents().agents_size() > 0) {
    NEREID_RETURN_IF_ERROR(RunAgents(*written, options, &polled));
    origin->agents = polled.agents;
  }
  polled.written = written;
  NEREID_ASSIGN_OR_RETURN(config::ModelFiles files, config::ReadModelFiles(polled.directory.path));
  files.directory_name = directory.name;
  auto completed = config::CompleteModelConfig(*written, files);
  if (!completed.ok()) {
    const layout::Folder folder = layout::ReadFolder(polled.directory.path, directory.name);
    const auto facts = layout::FactsOf(*written, polled.basis.configured);
    if (!layout::IsModelWithoutVersion(folder, facts)) return completed.status();
    // The load fails because there is no version, and says so to its client.
    polled.basis.config = Named(*written, directory.name);
    return polled;
  }
  polled.basis.config = std::move(completed).value();
  NEREID_RETURN_IF_ERROR(config::ValidateModelConfig(
      *polled.basis.config,
      config::ValidateOptions::ForPoll(options.strict_config, directory.name)));
  FindVersions(files, &polled);
  if (polled.basis.staged || origin->copy != nullptr) polled.origin = std::move(origin);
  return polled;
}

}  // namespace nereid::repository
