// SPDX-License-Identifier: Apache-2.0
// Checks the directories of versions.
#include "base/files.h"
#include "config/version_policy.h"
#include "repository/check/check_rules.h"
#include "repository/check/model_check.h"

namespace nereid::repository::check {
namespace {

// Returns the position of a number in the list of a specific policy.
std::string PathOfVersion(const config::ModelConfig& config, int64_t version) {
  const auto* specific = std::get_if<config::SpecificVersions>(&config.version_policy());
  for (size_t i = 0; specific != nullptr && i < specific->versions.size(); ++i) {
    if (specific->versions[i] == version) {
      return "version_policy.specific.versions[" + std::to_string(i) + "]";
    }
  }
  return "version_policy";
}

}  // namespace

void AddNoVersion(CheckedModel* model) {
  model->AddOfFile(kNoVersion, model->directory().path,
                   "at least one version must be available under the version policy of model '" +
                       model->directory().name + "'");
}

std::vector<int64_t> CheckVersions(const config::ModelFiles& files,
                                   const config::ModelConfig& config, CheckedModel* model) {
  std::vector<int64_t> available;
  for (const auto& [name, entries] : files.subdirectories) {
    if (const auto version = config::ParseVersionDirectory(name)) {
      available.push_back(*version);
    } else if (!config::WhyNoVersion(name).empty()) {
      model->AddOfFile(kIgnoredDirectory, base::JoinPath(model->directory().path, name),
                       "ignoring version directory '" + name + "' of model '" +
                           model->directory().name +
                           "': it is not a number, or starts with a zero");
    }
  }
  const auto selection = config::SelectVersions(config.version_policy(), available);
  for (const int64_t missing : selection.missing) {
    model->Add(kMissingVersion, PathOfVersion(config, missing),
               "version " + std::to_string(missing) + " is specified for model '" +
                   model->directory().name + "', but the version directory is not present");
  }
  if (selection.versions.empty() && !model->IsUnread("version_policy")) {
    AddNoVersion(model);
  }
  return selection.versions;
}

}  // namespace nereid::repository::check
