// SPDX-License-Identifier: Apache-2.0
#include "repository/load_advice.h"

#include "base/files.h"
#include "config/backend_library.h"
#include "config/complete/complete.h"
#include "config/complete/model_files.h"
#include "config/known_backends.h"
#include "config/rules/find_problems.h"
#include "config/version_policy.h"
#include "layout/advise.h"
#include "model_config.pb.h"
#include "repository/config_file.h"

namespace nereid::repository {
namespace {

std::string TextOf(const std::optional<layout::Advice>& advice) {
  return advice ? advice->Text() : std::string();
}

/// Returns the advice on the first rule that the configuration breaks and that concerns the layout.
std::string AdviceOnRules(const layout::Folder& folder, const layout::ModelFacts& facts,
                          const config::ModelConfig& written, const ModelDirectory& directory) {
  auto files = config::ReadModelFiles(directory.path);
  if (!files.ok()) return TextOf(layout::AdviseOnFolder(folder, facts));
  files->directory_name = directory.name;
  const auto completed = config::CompleteModelConfig(written, *files);
  if (!completed.ok()) return TextOf(layout::AdviseOnFolder(folder, facts));
  const auto options = config::ValidateOptions::ForPoll(false, directory.name);
  for (const config::Problem& problem : config::FindProblems(**completed, options)) {
    const auto advice = layout::AdviseOnRule(folder, facts, problem.rule, std::nullopt);
    if (advice) return advice->Text();
  }
  return "";
}

}  // namespace

std::string AdviceOnPoll(const ModelDirectory& directory, const PollOptions& options) {
  if (IsUrl(directory.path)) return "";
  const layout::Folder folder = layout::ReadFolder(directory.path, directory.name);
  const std::string config_path = ConfigFilePath(directory.path, options.config_name);
  const bool has_config = base::PathExists(config_path);
  config::ModelConfigPtr written = config::ModelConfig::Create({});
  if (has_config) {
    const auto read = ReadWrittenConfig(directory, options);
    // Of a text that is wrong, the parser says all that is to say.
    const auto* const entry = folder.Find("config.pbtxt");
    const bool readable = entry != nullptr && entry->content.kind != layout::FileKind::kUnreadable;
    if (!read.ok() && readable) return "";
    if (read.ok()) written = *read;
  }
  return AdviceOnRules(folder, layout::FactsOf(*written, has_config), *written, directory);
}

std::string AdviceOnNoVersion(const std::string& model, const std::string& directory,
                              const config::ModelConfig& config, bool has_config) {
  const layout::Folder folder = layout::ReadFolder(directory, model);
  return TextOf(layout::AdviseOnFolder(folder, layout::FactsOf(config, has_config)));
}

bool IsNoModel(const ModelDirectory& directory, const config::ModelConfig& completed,
               bool configured, const std::string& backend_directory) {
  // Without a configuration, an unknown backend comes from the name of the model.
  if (configured || config::FindKnownBackend(completed.backend()) != nullptr) return false;
  const auto has_library = [&](const std::string& version_directory) {
    return config::HasBackendLibrary(
        {completed.name(), completed.backend(), "", version_directory, directory.path},
        backend_directory);
  };
  if (has_library(directory.path)) return false;
  const auto names = base::ListSubdirectories(directory.path);
  if (!names.ok()) return false;  // its content is not known
  for (const std::string& name : *names) {
    const bool is_version = config::ParseVersionDirectory(name).has_value();
    if (is_version && has_library(base::JoinPath(directory.path, name))) return false;
  }
  return !layout::HoldsModel(layout::ReadFolder(directory.path, directory.name));
}

std::string AdviceOnVersion(const std::string& model, const std::string& directory,
                            const config::ModelConfig& written, bool has_config, int64_t version) {
  const layout::Folder folder = layout::ReadFolder(directory, model);
  const layout::ModelFacts facts = layout::FactsOf(written, has_config);
  if (!facts.backend.empty() && config::FindKnownBackend(facts.backend) == nullptr) {
    return TextOf(layout::AdviseOnBackend(folder, facts));
  }
  return TextOf(layout::AdviseOnVersion(folder, facts, version));
}

}  // namespace nereid::repository
