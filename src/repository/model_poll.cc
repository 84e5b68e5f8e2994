// SPDX-License-Identifier: Apache-2.0
#include "repository/model_poll.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/log.h"
#include "config/complete.h"
#include "config/parse.h"
#include "config/rules/validate.h"
#include "config/version_policy.h"
#include "repository/config_file.h"

namespace nereid::repository {

using base::Status;

namespace {

int64_t ModificationNs(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

/// The configuration as the file says it; with completion allowed and no file, an empty one.
base::Result<config::ModelConfigPtr> ReadConfig(const ModelDirectory& directory,
                                                const PollOptions& options) {
  const std::string path = ConfigFilePath(directory.path, options.config_name);
  if (!base::PathExists(path) && !options.strict_config) {
    return config::ParseModelConfigText("", path);
  }
  NEREID_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path, kMaxConfigFileBytes));
  return config::ParseModelConfigText(text, path);
}

/// The selected versions whose directories have exactly that number as their name.
std::vector<int64_t> FindVersions(const config::ModelFiles& files,
                                  const config::ModelConfig& config) {
  std::vector<int64_t> available;
  for (const auto& [name, entries] : files.subdirectories) {
    if (const auto version = config::ParseVersionDirectory(name)) {
      available.push_back(*version);
    } else if (name != "configs" && name != "warmup" && name != "initial_state") {
      LOG_WARNING << "ignoring version directory '" << name << "' of model '" << config.name()
                  << "': it is not a number, or starts with a zero";
    }
  }
  const config::VersionSelection selection =
      config::SelectVersions(config.version_policy(), available);
  for (const int64_t missing : selection.missing) {
    LOG_ERROR << "version " << missing << " is specified for model '" << config.name()
              << "', but the version directory is not present";
  }
  return selection.versions;
}

}  // namespace

base::Result<std::vector<ModelDirectory>> ScanRepositories(const std::set<std::string>& paths) {
  std::vector<ModelDirectory> directories;
  for (const std::string& path : paths) {
    if (!base::IsDirectory(path)) return Status::Internal("failed to stat file " + path);
    NEREID_ASSIGN_OR_RETURN(const auto names, base::ListSubdirectories(path));
    for (const std::string& name : names) {
      directories.push_back({name, base::JoinPath(path, name)});
    }
  }
  std::stable_sort(directories.begin(), directories.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  return directories;
}

base::Result<PolledModel> PollModel(const ModelDirectory& directory, const PollOptions& options) {
  PolledModel polled;
  polled.directory = directory;
  // Before anything is read: a change while we read makes the model look modified next time.
  polled.modified_ns = NewestModificationNs(directory.path);
  NEREID_ASSIGN_OR_RETURN(const config::ModelConfigPtr written, ReadConfig(directory, options));
  NEREID_ASSIGN_OR_RETURN(config::ModelFiles files, config::ReadModelFiles(directory.path));
  files.directory_name = directory.name;
  NEREID_ASSIGN_OR_RETURN(polled.config, config::CompleteModelConfig(*written, files));
  NEREID_RETURN_IF_ERROR(config::ValidateModelConfig(
      *polled.config, config::ValidateOptions::ForPoll(options.strict_config, directory.name)));
  polled.versions = FindVersions(files, *polled.config);
  return polled;
}

int64_t NewestModificationNs(const std::string& path) {
  namespace fs = std::filesystem;
  int64_t newest = ModificationNs(path);
  std::error_code error;
  // Links are not followed: a link to a parent would never end.
  fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    newest = std::max(newest, ModificationNs(it->path().string()));
  }
  return newest;
}

}  // namespace nereid::repository
