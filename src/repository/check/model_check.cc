// SPDX-License-Identifier: Apache-2.0
#include "repository/check/model_check.h"

#include <algorithm>

#include "base/files.h"
#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/known_backends.h"
#include "config/text/outline.h"
#include "model_config.pb.h"
#include "repository/check/check_rules.h"
#include "repository/config_file.h"
#include "repository/load_advice.h"

namespace nereid::repository {
namespace {

// Returns whether `path` is `field` or a part of it.
bool IsWithin(std::string_view path, std::string_view field) {
  if (!path.starts_with(field)) return false;
  return path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[';
}

// A plug-in of another author may complete what the tensors lack. Identity does not.
bool MayFillInTensors(const config::ModelConfig& config) {
  return !config.is_ensemble() && config.backend() != "identity" &&
         config::FindKnownBackend(config.backend()) == nullptr;
}

// A function in model.py may add to the listed inputs and outputs and complete them.
bool FillsInTensors(const config::ModelConfig& config) { return config.backend() == "python"; }

bool NeedsGpus(std::string_view rule) {
  return rule == "instances.gpus_available" || rule == "instances.gpus_exist" ||
         rule == "instances.gpus_given";
}

}  // namespace

CheckedModel CheckedModel::Check(const ModelDirectory& directory, const CheckOptions& options) {
  CheckedModel model;
  model.directory_ = directory;
  model.config_path_ = ConfigFilePath(directory.path, options.config_name);
  model.has_config_file_ = base::PathExists(model.config_path_);
  model.facts_.has_config = model.has_config_file_;
  if (!model.has_config_file_ && options.strict_config) {
    model.AddOfFile(
        check::kConfigFile, model.config_path_,
        "failed to open text file for read " + model.config_path_ + ": No such file or directory");
    return model;
  }
  model.ReadText(options);
  model.AddAdvice();
  return model;
}

void CheckedModel::ReadText(const CheckOptions& options) {
  if (has_config_file_) {
    auto text = base::ReadFile(config_path_, kMaxConfigFileBytes);
    if (!text.ok()) {
      AddOfFile(check::kConfigFile, config_path_, text.status().message());
      return;
    }
    text_ = std::move(*text);
  }
  config::TextReading reading = config::ReadModelConfigText(text_, options.max_text_problems);
  unread_ = std::move(reading.unread);
  if (!reading.blanked.empty()) text_ = std::move(reading.blanked);
  for (const config::TextProblem& problem : reading.problems) {
    findings_.push_back({directory_.name, config_path_, problem.position, problem.field,
                         std::nullopt, std::string(problem.rule), config::Severity::kError,
                         problem.message, problem.expected, problem.remedy});
  }
  if (reading.config == nullptr) return;
  for (const auto& [path, position] : Places().repeated_keys()) {
    Add(check::kRepeatedKey, path, "the key of '" + path + "' is given twice");
    findings_.back().position = position;
  }
  facts_ = layout::FactsOf(*reading.config, has_config_file_);
  check::CheckExamples(text_, this);
  check::CheckPlaceholders(text_, this);
  Complete(*reading.config, options);
}

void CheckedModel::AddAdvice() {
  const layout::Folder folder = layout::ReadFolder(directory_.path, directory_.name);
  bool is_wrong = false;  // the layout, or what says which files the model has
  for (Finding& finding : findings_) {
    const auto advice = layout::AdviseOnRule(folder, facts_, finding.rule, finding.version);
    if (advice) finding.remedy = advice->Text();
    is_wrong = is_wrong || advice.has_value();
  }
  if (is_wrong) return;  // the rest is a consequence, or is found when this is corrected
  const size_t before = findings_.size();
  if (config_ != nullptr) AddContentAdvice(folder);
  if (findings_.size() > before) return;
  if (const auto misnamed = layout::AdviseOnConfigName(folder, facts_)) {
    AddOfFile(check::kConfigName, directory_.path, misnamed->found);
    findings_.back().remedy = misnamed->Text();
  }
}

void CheckedModel::AddContentAdvice(const layout::Folder& folder) {
  for (const int64_t version : versions_) {
    const bool is_reported =
        std::any_of(findings_.begin(), findings_.end(),
                    [&](const Finding& finding) { return finding.version == version; });
    if (is_reported || folder.Find(std::to_string(version)) == nullptr) continue;
    const auto advice = layout::AdviseOnVersion(folder, facts_, version);
    if (!advice) continue;
    AddOfFile(check::kModelContent, base::JoinPath(directory_.path, std::to_string(version)),
              advice->found);
    findings_.back().remedy = advice->Text();
  }
  check::CheckModuleState(this);
}

void CheckedModel::Complete(const config::ModelConfig& written, const CheckOptions& options) {
  auto files = config::ReadModelFiles(directory_.path);
  if (!files.ok()) {
    AddOfFile(check::kConfigFile, directory_.path, files.status().message());
    return;
  }
  files->directory_name = directory_.name;
  files_ = std::move(*files);
  const auto completed = config::CompleteModelConfig(written, *files_);
  if (!completed.ok()) {
    for (const char* field : {"backend", "platform", "default_model_filename"}) {
      if (IsUnread(field)) return;
    }
    const layout::Folder folder = layout::ReadFolder(directory_.path, directory_.name);
    if (layout::IsModelWithoutVersion(folder, facts_)) {
      check::AddNoVersion(this);
    } else if (has_config_file_) {
      Add(check::kBackendTold, "backend", completed.status().message());
    } else {
      AddOfFile(check::kBackendTold, directory_.path, completed.status().message());
    }
    return;
  }
  const bool knows_backends = !options.backend_directory.empty();
  if (knows_backends &&
      IsNoModel(directory_, **completed, has_config_file_, options.backend_directory)) {
    AddOfFile(check::kNoModel, directory_.path,
              "the directory '" + directory_.name +
                  "' is no model: it has neither a configuration nor a model file, and there is no "
                  "backend '" +
                  (*completed)->backend() + "'");
    return;
  }
  // What the backend prefers is not known here. It could be the CPU, so groups of kind AUTO are
  // taken as that.
  config::InstanceDefaults defaults;
  defaults.gpus = options.gpus.value_or(std::vector<int32_t>());
  defaults.preferred = {{config::InstanceKind::kCpu, 0, {}}};
  config_ = config::CompleteInstanceGroups(**completed, defaults);
  const bool listed = !config_->inputs().empty() && !config_->outputs().empty();
  const bool completes = !options.strict_config && !config_->is_ensemble();
  incomplete_ = !unread_.empty() || (completes && (!listed || FillsInTensors(*config_)));
  FindProblems(options);
  versions_ = check::CheckVersions(*files_, *config_, this);
  check::CheckFiles(*files_, options, this);
}

void CheckedModel::FindProblems(const CheckOptions& options) {
  const auto problems = config::FindProblems(
      *config_, config::ValidateOptions::ForAll(options.gpus.value_or(std::vector<int32_t>()),
                                                directory_.name));
  for (const config::Problem& problem : problems) {
    if (IsUnread(problem.field)) continue;
    if (!options.gpus && NeedsGpus(problem.rule)) continue;
    const bool filled_in = problem.rule == "tensor.data_type" || problem.rule == "tensor.dims";
    if (filled_in && !options.strict_config && FillsInTensors(*config_)) continue;
    Add(problem);
    if (!filled_in || options.strict_config || !MayFillInTensors(*config_)) continue;
    findings_.back().severity = config::Severity::kWarning;
    findings_.back().remedy += " The load fails if the backend does not complete it.";
    incomplete_ = true;
  }
}

bool CheckedModel::IsUnread(std::string_view field) const {
  for (const std::string& unread : unread_) {
    if (IsWithin(field, unread) || IsWithin(unread, field)) return true;
  }
  return false;
}

bool CheckedModel::HasErrorAt(std::string_view field) const {
  for (const Finding& finding : findings_) {
    if (finding.field == field && finding.severity == config::Severity::kError) return true;
  }
  return false;
}

const config::Locations& CheckedModel::Places() {
  if (!places_) {
    const config::TextLines lines(text_);
    places_ = config::Locations::Of(config::ReadOutline(text_, lines));
  }
  return *places_;
}

void CheckedModel::Add(const config::Problem& problem) {
  Finding finding;
  finding.model = directory_.name;
  finding.file = has_config_file_ ? config_path_ : directory_.path;
  if (has_config_file_) finding.position = Places().Nearest(problem.field);
  finding.field = problem.field;
  finding.rule = problem.rule;
  finding.severity = problem.severity;
  finding.message = problem.message;
  finding.expected = problem.expected;
  finding.remedy = problem.remedy;
  findings_.push_back(std::move(finding));
}

void CheckedModel::Add(const config::RuleInfo& rule, const std::string& field, std::string message,
                       std::string expected) {
  Add(config::Problem{std::string(rule.id), rule.severity, field, std::move(message),
                      expected.empty() ? std::string(rule.expected) : std::move(expected),
                      std::string(rule.remedy)});
}

void CheckedModel::AddOfVersion(const config::RuleInfo& rule, int64_t version,
                                const std::string& field, std::string message,
                                std::string expected) {
  Add(rule, field, std::move(message), std::move(expected));
  findings_.back().version = version;
}

void CheckedModel::AddAt(const config::RuleInfo& rule, config::TextPosition position,
                         std::string message) {
  AddOfFile(rule, config_path_, std::move(message));
  findings_.back().position = position;
}

void CheckedModel::AddOfFile(const config::RuleInfo& rule, std::string file, std::string message) {
  findings_.push_back({directory_.name,
                       std::move(file),
                       {},
                       "",
                       std::nullopt,
                       std::string(rule.id),
                       rule.severity,
                       std::move(message),
                       std::string(rule.expected),
                       std::string(rule.remedy)});
}

}  // namespace nereid::repository
