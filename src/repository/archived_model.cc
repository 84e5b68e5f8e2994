// SPDX-License-Identifier: Apache-2.0
#include "repository/archived_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "config/version_policy.h"
#include "repository/config_file.h"

namespace nereid::repository {
namespace {

using base::Status;

/// How many subdirectories an error names.
constexpr size_t kMaxNamed = 10;

base::Result<bool> IsModelDirectory(const std::string& path, const PollOptions& options) {
  if (base::PathExists(ConfigFilePath(path, options.config_name))) return true;
  NEREID_ASSIGN_OR_RETURN(const std::vector<std::string> names, base::ListSubdirectories(path));
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return config::ParseVersionDirectory(name).has_value();
  });
}

/// Returns the subdirectories that are directories of models.
base::Result<std::vector<std::string>> ListModels(const std::string& path,
                                                  const PollOptions& options) {
  NEREID_ASSIGN_OR_RETURN(const std::vector<std::string> names, base::ListSubdirectories(path));
  std::vector<std::string> models;
  for (const std::string& name : names) {
    NEREID_ASSIGN_OR_RETURN(const bool is_model,
                            IsModelDirectory(base::JoinPath(path, name), options));
    if (is_model) models.push_back(name);
  }
  return models;
}

/// Returns the ensembles that no other ensemble of the directory calls.
std::vector<std::string> OutermostEnsembles(const std::string& path,
                                            const std::vector<std::string>& models,
                                            const PollOptions& options) {
  std::map<std::string, std::set<std::string>> members;  // by ensemble
  for (const std::string& model : models) {
    auto called = ReadMembers({model, base::JoinPath(path, model)}, options);
    if (!called.empty()) members.emplace(model, std::move(called));
  }
  std::vector<std::string> outermost;
  for (const auto& ensemble : members) {
    const bool is_called = std::any_of(members.begin(), members.end(), [&](const auto& other) {
      return other.second.contains(ensemble.first);
    });
    if (!is_called) outermost.push_back(ensemble.first);
  }
  return outermost;
}

Status NoModel(const std::string& directory, const std::vector<std::string>& models) {
  std::string text = "the directory '" + directory + "' must contain a model (config.pbtxt or a " +
                     "directory of a version), a directory with one, or an ensemble and the " +
                     "models that it calls";
  if (models.empty()) return Status::InvalidArgument(text + "; it contains none of these");
  text += "; it contains the models";
  for (size_t i = 0; i < std::min(models.size(), kMaxNamed); ++i) {
    text += (i == 0 ? " '" : ", '") + models[i] + "'";
  }
  if (models.size() > kMaxNamed) text += ", ...";
  return Status::InvalidArgument(text);
}

}  // namespace

base::Result<ArchivedModel> FindArchivedModel(const std::string& directory, const std::string& name,
                                              const PollOptions& options) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(directory, error);
  if (error || !base::IsDirectory(path.string())) {
    return Status::InvalidArgument("there is no directory '" + directory + "'");
  }
  NEREID_ASSIGN_OR_RETURN(const bool is_model, IsModelDirectory(path.string(), options));
  if (is_model && path.has_filename()) {
    return ArchivedModel{path.parent_path().string(), {{name, path.filename().string()}}};
  }
  NEREID_ASSIGN_OR_RETURN(std::vector<std::string> models, ListModels(path.string(), options));
  const std::vector<std::string> outermost = OutermostEnsembles(path.string(), models, options);
  if (models.size() == 1) return ArchivedModel{path.string(), {{name, models[0]}}};
  if (outermost.size() == 1) return ArchivedModel{path.string(), {{name, outermost[0]}}};
  return NoModel(directory, models);
}

}  // namespace nereid::repository
