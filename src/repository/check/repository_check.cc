// SPDX-License-Identifier: Apache-2.0
#include "repository/check/repository_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "base/cpus.h"
#include "base/files.h"
#include "base/parallel.h"
#include "config/rules/ensemble_members.h"
#include "config/version_policy.h"
#include "layout/advise.h"
#include "model_config.pb.h"
#include "repository/check/check_rules.h"

namespace nereid::repository {
namespace {

namespace fs = std::filesystem;

// For fewer models, starting a thread takes longer than its work.
constexpr size_t kModelsPerThread = 64;

// Returns "models/a" for "models/a/": findings have the path in the form of the argument.
std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string NameOf(const std::string& path) {
  std::error_code error;
  // "." has no name of its own.
  const fs::path absolute = fs::weakly_canonical(path, error);
  return error ? fs::path(path).filename().string() : absolute.filename().string();
}

/// Adds the arguments that are repositories to `repositories`.
base::Result<std::vector<ModelDirectory>> FindModels(const std::vector<std::string>& directories,
                                                     std::set<std::string>* repositories) {
  std::vector<ModelDirectory> models;
  for (const std::string& given : directories) {
    const std::string path = WithoutSlash(given);
    if (!base::IsDirectory(path)) {
      return base::Status::NotFound(base::PathExists(path) ? "not a directory: " + path
                                                           : "no such directory: " + path);
    }
    if (IsModelDirectory(path)) {
      models.push_back({NameOf(path), path});
    } else {
      repositories->insert(path);
    }
  }
  const RepositoryScan scan = ScanRepositories(PlainRepositories(*repositories), *LocalStorage());
  NEREID_RETURN_IF_ERROR(scan.status());
  models.insert(models.end(), scan.directories.begin(), scan.directories.end());
  return models;
}

std::vector<CheckedModel> CheckAll(const std::vector<ModelDirectory>& directories,
                                   const CheckOptions& options) {
  std::vector<CheckedModel> models(directories.size());
  const size_t cpus = static_cast<size_t>(base::AvailableCpuCount());
  const size_t threads = std::min(1 + directories.size() / kModelsPerThread, cpus);
  base::ForEachOnThreads("check", threads, directories.size(), [&](size_t i) {
    models[i] = CheckedModel::Check(directories[i], options);
  });
  return models;
}

using ByName = std::map<std::string, std::vector<CheckedModel*>>;

void CheckDuplicates(const ByName& by_name) {
  for (const auto& [name, models] : by_name) {
    if (models.size() < 2) continue;
    for (CheckedModel* model : models) {
      std::string others;
      for (const CheckedModel* other : models) {
        if (other != model) others += (others.empty() ? "" : ", ") + other->directory().path;
      }
      model->AddOfFile(check::kDuplicateModel, model->directory().path,
                       "model '" + name + "' appears in two or more repositories: also " + others);
    }
  }
}

/// Finds model files that lie in a repository itself.
void FindStrayFiles(const std::set<std::string>& repositories, CheckReport* report) {
  for (const std::string& repository : repositories) {
    const auto names = base::ListDirectory(repository);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      const std::string path = base::JoinPath(repository, name);
      if (name.starts_with('.') || base::IsDirectory(path)) continue;
      const auto advice = layout::AdviseOnStrayFile(name, layout::LookAtFile(path, name));
      if (!advice) continue;
      const config::RuleInfo& rule = check::kStrayFile;
      report->findings.push_back({"",
                                  path,
                                  {},
                                  "",
                                  std::nullopt,
                                  std::string(rule.id),
                                  rule.severity,
                                  advice->found,
                                  std::string(rule.expected),
                                  advice->Text()});
    }
  }
}

// Problems of members are reported only if the rules of the ensemble itself found none.
bool CanCheckMembers(const CheckedModel& model) {
  if (model.config() == nullptr || !model.config()->proto().has_ensemble_scheduling()) return false;
  for (const char* field : {"ensemble_scheduling", "input", "output", "max_batch_size"}) {
    if (model.IsUnread(field)) return false;
  }
  return std::none_of(model.findings().begin(), model.findings().end(), [](const Finding& finding) {
    return finding.rule.starts_with("ensemble.") && finding.severity == config::Severity::kError;
  });
}

// A member whose configuration was reported as unreadable is not missing.
bool IsAboutUnreadable(const config::Problem& problem, const config::ModelConfig& ensemble,
                       const std::set<std::string>& unreadable) {
  if (problem.rule != "members.exist") return false;
  const auto& steps = ensemble.proto().ensemble_scheduling().step();
  return std::any_of(steps.begin(), steps.end(), [&](const auto& step) {
    return unreadable.contains(step.model_name()) &&
           problem.message.ends_with(": " + step.model_name());
  });
}

void CheckEnsembles(const ByName& by_name, std::vector<CheckedModel>* models) {
  std::map<std::string, config::EnsembleMember> members;
  std::set<std::string> unreadable;
  for (const auto& [name, same] : by_name) {
    if (same.size() != 1) continue;
    const CheckedModel& model = *same.front();
    if (model.config() == nullptr) {
      unreadable.insert(name);
    } else {
      members[name] = {model.config().get(), model.versions(), model.incomplete()};
    }
  }
  const config::FindMember find = [&](const std::string& name) -> const config::EnsembleMember* {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  };
  for (CheckedModel& model : *models) {
    if (!CanCheckMembers(model)) continue;
    for (const config::Problem& problem : config::FindMemberProblems(*model.config(), find)) {
      if (!IsAboutUnreadable(problem, *model.config(), unreadable)) model.Add(problem);
    }
  }
}

bool HasConfigOrVersion(const std::string& path) {
  if (base::PathExists(base::JoinPath(path, "config.pbtxt"))) return true;
  const auto names = base::ListSubdirectories(path);
  return names.ok() && std::any_of(names->begin(), names->end(), [](const std::string& name) {
           return config::ParseVersionDirectory(name).has_value();
         });
}

}  // namespace

bool IsModelDirectory(const std::string& path) {
  if (base::PathExists(base::JoinPath(path, "config.pbtxt"))) return true;
  const auto names = base::ListSubdirectories(path);
  if (!names.ok()) return false;
  // A model file that is in no version's directory; a repository would have a model beside it.
  const layout::Folder files = layout::ReadFolder(path, NameOf(path), /*depth=*/1);
  if (layout::IsModelWithoutVersion(files, {})) {
    return std::none_of(names->begin(), names->end(), [&](const std::string& name) {
      return HasConfigOrVersion(base::JoinPath(path, name));
    });
  }
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    // A repository may have a model with such a name; then it has a version or a configuration.
    const std::string inner = base::JoinPath(path, name);
    if (!config::ParseVersionDirectory(name)) return name == "configs" && base::IsDirectory(inner);
    return !HasConfigOrVersion(inner);
  });
}

base::Result<CheckReport> CheckRepositories(const std::vector<std::string>& directories,
                                            const CheckOptions& options) {
  std::set<std::string> repositories;
  NEREID_ASSIGN_OR_RETURN(const auto found, FindModels(directories, &repositories));
  std::vector<CheckedModel> models = CheckAll(found, options);
  ByName by_name;
  for (CheckedModel& model : models) by_name[model.directory().name].push_back(&model);
  CheckDuplicates(by_name);
  CheckEnsembles(by_name, &models);
  CheckReport report;
  report.models = models.size();
  for (const CheckedModel& model : models) {
    report.findings.insert(report.findings.end(), model.findings().begin(), model.findings().end());
  }
  FindStrayFiles(repositories, &report);
  const auto key = [](const Finding& f) {
    return std::tie(f.model, f.file, f.position.line, f.position.column);
  };
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  return report;
}

std::vector<config::RuleInfo> ListCheckRules() {
  std::vector<config::RuleInfo> rules;
  for (const config::TextProblemKind& kind : config::TextProblemKinds()) {
    config::RuleInfo rule;
    rule.id = kind.rule;
    rule.summary = kind.summary;
    rules.push_back(rule);
  }
  for (const auto& rule : config::AllRules()) rules.push_back(rule);
  for (const auto& rule : config::MemberRules()) rules.push_back(rule);
  for (const auto* rule : check::kCheckRules) rules.push_back(*rule);
  return rules;
}

}  // namespace nereid::repository
