// SPDX-License-Identifier: Apache-2.0
// Models without a version, configurations with a wrong name, and files outside of models.
#include <algorithm>
#include <cctype>
#include <vector>

#include "base/ascii_case.h"
#include "config/known_backends.h"
#include "config/version_policy.h"
#include "layout/advise.h"
#include "layout/candidates.h"
#include "model_config.pb.h"

namespace nereid::layout {
namespace {

/// The most ways that one text offers.
constexpr size_t kMaxWays = 3;

bool IsVersion(const std::string& name) { return config::ParseVersionDirectory(name).has_value(); }

std::vector<std::string> Directories(const Folder& folder, const std::string& in) {
  std::vector<std::string> names;
  for (const std::string& name : folder.Children(in)) {
    if (folder.Find(Below(in, name))->is_directory) names.push_back(name);
  }
  return names;
}

/// Returns the number in a name that has exactly one: "v1", "001" and "version_1" give 1.
std::optional<std::string> NumberIn(const std::string& name) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::find_if(name.begin(), name.end(), is_digit);
  const auto end = std::find_if_not(begin, name.end(), is_digit);
  if (begin == name.end() || std::any_of(end, name.end(), is_digit)) return std::nullopt;
  std::string digits(begin, end);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return IsVersion(digits) ? std::optional(digits) : std::nullopt;
}

/// "v1", "001", "1_old": a version whose name is not the number alone.
std::optional<Advice> MisnamedVersion(const Folder& folder) {
  for (const std::string& name : Directories(folder, "")) {
    const auto number = NumberIn(name);
    const bool is_misnamed = !config::WhyNoVersion(name).empty() && number.has_value();
    if (!is_misnamed || folder.Find(*number) != nullptr) continue;
    const std::string path = InRepository(folder, name);
    return Advice{"found the directory " + Quoted(path),
                  {MoveStep(path, InRepository(folder, *number))}};
  }
  return std::nullopt;
}

/// Returns whether a directory in the folder is that of a model: it has a version.
bool HasVersion(const Folder& folder, const std::string& directory) {
  const auto names = Directories(folder, directory);
  return std::any_of(names.begin(), names.end(), IsVersion);
}

/// The model is one directory too deep, or the folder is a repository itself.
std::optional<Advice> NestedModel(const Folder& folder) {
  std::vector<std::string> inner;
  for (const std::string& name : Directories(folder, "")) {
    if (HasVersion(folder, name)) inner.push_back(name);
  }
  if (inner.empty()) return std::nullopt;
  Advice advice;
  advice.found = "found versions of a model in " + Quoted(InRepository(folder, inner.front()));
  if (inner.size() == 1) {
    std::string steps;
    for (const std::string& name : folder.Children(inner.front())) {
      const std::string step =
          MoveStep(InRepository(folder, Below(inner.front(), name)), InRepository(folder, name));
      steps = steps.empty() ? step : Then(steps, step);
    }
    advice.ways.push_back(steps);
  }
  advice.ways.push_back("pass the directory " + Quoted(folder.name) +
                        " of the repository as --model-repository");
  return advice;
}

std::optional<Advice> ArchiveIn(const Folder& folder, const std::string& directory,
                                const std::string& target) {
  for (const std::string& name : folder.Children(directory)) {
    const std::string path = Below(directory, name);
    if (folder.Find(path)->content.kind != FileKind::kArchive) continue;
    return Advice{"found the archive " + Quoted(InRepository(folder, path)),
                  {UnpackStep(InRepository(folder, path), InRepository(folder, target))}};
  }
  return std::nullopt;
}

/// The model lies in the model's directory, or in one that is not a version.
std::optional<Advice> ModelOutsideOfVersions(const Folder& folder, const ModelFacts& facts) {
  const auto candidates = FindCandidates(folder, facts.backend);
  if (candidates.empty()) return std::nullopt;
  Advice advice{FoundText(folder, candidates), {}};
  for (const Candidate& candidate : candidates) {
    if (advice.ways.size() == kMaxWays) break;
    advice.ways.push_back(
        MoveModel(folder, candidate, Below("1", WantedName(facts, candidate.kind))));
  }
  return advice;
}

/// A model without files, which needs a directory for its version all the same.
std::optional<Advice> EmptyModel(const Folder& folder, const ModelFacts& facts) {
  const bool needs_no_file =
      facts.is_ensemble ||
      (!facts.backend.empty() && config::FindKnownBackend(facts.backend) == nullptr);
  if (!needs_no_file) return std::nullopt;
  return Advice{"found no directory of a version", {CreateStep(InRepository(folder, "1"))}};
}

std::optional<Advice> Unreadable(const Folder& folder) {
  for (const auto& [path, entry] : folder.entries) {
    if (entry.content.kind != FileKind::kUnreadable) continue;
    const std::string shown = InRepository(folder, path);
    return Advice{Quoted(shown) + " cannot be read", {MakeReadableStep(shown)}};
  }
  return std::nullopt;
}

bool IsConfigName(const std::string& path, FileKind kind) {
  const std::string name = base::ToLower(LastName(path));
  if (kind == FileKind::kConfig) return true;
  for (const char* known : {"config", "config.txt", "config.pbtext", "config.pb.txt",
                            "config.pbtxt.txt", "config.prototxt", "model_config.txt"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

ModelFacts FactsOf(const config::ModelConfig& written, bool has_config) {
  const auto& proto = written.proto();
  ModelFacts facts;
  facts.has_config = has_config;
  facts.is_ensemble =
      proto.platform() == config::kEnsemblePlatform || proto.has_ensemble_scheduling();
  facts.backend = proto.backend().empty() ? std::string(config::BackendOfPlatform(proto.platform()))
                                          : proto.backend();
  facts.platform = proto.platform();
  // The completed name of a configuration without one is not an intention.
  const auto usual = config::DefaultFilename(facts.backend, facts.platform);
  if (proto.default_model_filename() != usual) facts.filename = proto.default_model_filename();
  facts.has_inputs = proto.input_size() > 0;
  return facts;
}

std::optional<Advice> AdviseOnConfigName(const Folder& folder, const ModelFacts& facts) {
  if (facts.has_config) return std::nullopt;
  for (const auto& [path, entry] : folder.entries) {
    const std::string parent(ParentOf(path));
    const bool is_near = parent.empty() || IsVersion(parent);
    if (entry.is_directory || !is_near || !IsConfigName(path, entry.content.kind)) continue;
    const std::string shown = InRepository(folder, path);
    return Advice{"found the configuration " + Quoted(shown),
                  {MoveStep(shown, InRepository(folder, facts.config_file))}};
  }
  return std::nullopt;
}

std::optional<Advice> AdviseOnFolder(const Folder& folder, const ModelFacts& facts) {
  if (auto advice = Unreadable(folder)) return advice;
  if (auto advice = AdviseOnConfigName(folder, facts)) return advice;
  const auto names = Directories(folder, "");
  const auto version = std::find_if(names.begin(), names.end(), IsVersion);
  if (version != names.end()) {
    return AdviseOnVersion(folder, facts, *config::ParseVersionDirectory(*version));
  }
  if (auto advice = MisnamedVersion(folder)) return advice;
  if (auto advice = NestedModel(folder)) return advice;
  if (auto advice = ModelOutsideOfVersions(folder, facts)) return advice;
  if (auto advice = ArchiveIn(folder, "", "1")) return advice;
  return EmptyModel(folder, facts);
}

bool IsModelWithoutVersion(const Folder& folder, const ModelFacts& facts) {
  const auto names = Directories(folder, "");
  if (std::any_of(names.begin(), names.end(), IsVersion)) return false;
  // A model that is deeper belongs to another folder: this one is a repository, or a data set.
  const auto candidates = FindCandidates(folder, facts.backend);
  return std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
    return candidate.path.find('/') == std::string::npos;
  });
}

bool HoldsModel(const Folder& folder) {
  const auto candidates = FindCandidates(folder, "");
  return std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
    const size_t slash = candidate.path.find('/');
    return slash == std::string::npos || IsVersion(candidate.path.substr(0, slash));
  });
}

std::optional<Advice> AdviseOnRule(const Folder& folder, const ModelFacts& facts,
                                   std::string_view rule, std::optional<int64_t> version) {
  const std::string config = InRepository(folder, facts.config_file);
  if (rule == "directory.name") {
    return Advice{"the directory is " + Quoted(folder.name),
                  {SetStep("name", folder.name, config), RemoveStep("name", config)}};
  }
  if (rule == "identity.platform" || rule == "identity.platform_backend_pair" ||
      rule == "files.backend_library") {
    return AdviseOnBackend(folder, facts);
  }
  if (rule == "files.model" && version) return AdviseOnVersion(folder, facts, *version);
  if (rule == "files.backend" || rule == "files.config" || rule == "versions.none") {
    return AdviseOnFolder(folder, facts);
  }
  return std::nullopt;
}

std::optional<Advice> AdviseOnStrayFile(const std::string& path, const FolderEntry& entry) {
  const FileKind kind = MeantKind(path, entry);
  const KindFormat* const format = FormatOf(kind);
  const bool is_archive = entry.content.kind == FileKind::kArchive;
  if ((format == nullptr || kind == FileKind::kPython) && !is_archive) return std::nullopt;
  const std::string found =
      "found " + Quoted(path) + " in the repository itself, where no model is looked for";
  const std::string model = path.substr(0, path.find('.'));
  if (is_archive) return Advice{found, {UnpackStep(path, model.empty() ? "model" : model)}};
  const std::string version = Below(model.empty() ? "model" : model, "1");
  std::string target = Below(version, format->filename);
  if (kind == FileKind::kSavedModel) target = Below(target, path);
  return Advice{found, {MoveStep(path, target)}};
}

}  // namespace nereid::layout
