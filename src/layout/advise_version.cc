// SPDX-License-Identifier: Apache-2.0
// The files of one version: their names, places and contents.
#include <vector>

#include "base/ascii_case.h"
#include "config/version_policy.h"
#include "layout/advise.h"
#include "layout/candidates.h"

namespace nereid::layout {
namespace {

constexpr size_t kMaxWays = 3;

/// Returns the way from a file that no backend reads to a model; empty for other kinds. `at(name)`
/// is the path of a file beside it.
template <typename At>
std::string ExportWay(FileKind kind, const At& at) {
  switch (kind) {
    case FileKind::kTorchPickle:
      return "export the module with torch.jit.script(module).save(\"" + at("model.pt") + "\")";
    case FileKind::kTorchExport:
      return "export the module with torch.jit.script or torch.onnx.export";
    case FileKind::kPickle:
      return "export it to ONNX (for scikit-learn with skl2onnx) as " + Quoted(at("model.onnx")) +
             " (or serve it with the backend python)";
    case FileKind::kHdf5:
    case FileKind::kKeras:
      return "export it with model.export(\"" + at("model.savedmodel") + "\") of Keras";
    case FileKind::kSafetensors:
      return "export the whole model to ONNX or TorchScript, or load the weights in a model.py of "
             "the backend python";
    case FileKind::kTfLite:
      return "convert it to ONNX with tf2onnx, or save it as a saved model";
    default:
      return "";
  }
}

/// The rules about one version; each returns nothing if it does not apply.
class VersionRules {
 public:
  VersionRules(const Folder& folder, const ModelFacts& facts, int64_t version)
      : folder_(folder),
        facts_(facts),
        directory_(std::to_string(version)),
        candidates_(FindCandidates(folder, facts.backend)) {}

  std::optional<Advice> Apply() const {
    const FolderEntry* const entry = folder_.Find(directory_);
    if (entry == nullptr) return std::nullopt;
    if (entry->content.kind == FileKind::kUnreadable) return MakeReadable(directory_);
    if (facts_.is_ensemble) return std::nullopt;
    for (const std::string& name : WantedNames()) {
      const std::string path = Below(directory_, name);
      if (folder_.Find(path) != nullptr) return AdviseOnContent(path);
    }
    return Missing();
  }

 private:
  std::string Shown(std::string_view path) const { return InRepository(folder_, path); }

  Advice MakeReadable(const std::string& path) const {
    return {Quoted(Shown(path)) + " cannot be read", {MakeReadableStep(Shown(path))}};
  }

  /// The names under which the backend looks for the model, or all if nothing tells the backend.
  std::vector<std::string> WantedNames() const {
    if (!facts_.filename.empty()) return {facts_.filename};
    std::vector<std::string> names;
    for (const KindFormat& format : KindFormats()) {
      const bool matches =
          facts_.platform.empty() || format.platform.empty() || format.platform == facts_.platform;
      const bool is_of_backend = facts_.backend.empty() || format.backend == facts_.backend;
      if (matches && is_of_backend) names.emplace_back(format.filename);
    }
    return names;
  }

  // ---- The model file is missing. ----

  std::optional<Advice> Missing() const {
    if (auto advice = OtherCase()) return advice;
    if (auto advice = FromHere()) return advice;
    if (auto advice = FromElsewhere()) return advice;
    if (auto advice = OfOtherBackend()) return advice;
    if (auto advice = Unserved()) return advice;
    return Empty();
  }

  std::optional<Advice> OtherCase() const {
    for (const std::string& name : folder_.Children(directory_)) {
      for (const std::string& wanted : WantedNames()) {
        if (!base::EqualsIgnoringCase(name, wanted)) continue;
        const std::string path = Shown(Below(directory_, name));
        return Advice{"found " + Quoted(path), {MoveStep(path, Shown(Below(directory_, wanted)))}};
      }
    }
    return std::nullopt;
  }

  /// Returns the steps that name another file in the configuration.
  std::string SetFilename(const Candidate& candidate) const {
    const KindFormat& format = *FormatOf(candidate.kind);
    const std::string config = Shown(facts_.config_file);
    const std::string name(LastName(candidate.path));
    const std::string filename = name == format.filename && !facts_.filename.empty()
                                     ? RemoveStep("default_model_filename", config)
                                     : SetStep("default_model_filename", name, config);
    if (!facts_.backend.empty() && facts_.platform.empty() && !format.platform.empty() &&
        format.backend == "tensorflow") {
      return Then(SetStep("platform", format.platform, config), filename);
    }
    if (!facts_.backend.empty()) return filename;
    const bool has_platform = format.backend == "tensorflow";
    return Then(has_platform ? SetStep("platform", format.platform, config)
                             : SetStep("backend", format.backend, config),
                filename);
  }

  /// The version's directory holds a model with another name, or is a saved model itself.
  std::optional<Advice> FromHere() const {
    const auto here = Select(candidates_, [&](const std::string& path) {
      return path == directory_ || ParentOf(path) == directory_;
    });
    if (here.empty()) return std::nullopt;
    Advice advice{FoundText(folder_, here), {}};
    for (const Candidate& candidate : here) {
      if (advice.ways.size() >= kMaxWays) break;
      const std::string name(FormatOf(candidate.kind)->filename);
      const std::string target = Below(directory_, WantedName(facts_, candidate.kind));
      // With a written name, the configuration is more likely to be wrong than the file.
      const bool is_plain = LastName(candidate.path) == name;
      const bool can_set = candidate.path != directory_ && candidate.kind != FileKind::kOpenVino;
      if (can_set && is_plain) advice.ways.push_back(SetFilename(candidate));
      advice.ways.push_back(MoveModel(folder_, candidate, target));
      if (can_set && !is_plain) advice.ways.push_back(SetFilename(candidate));
    }
    return advice;
  }

  /// The model is deeper in the version's directory, or beside it.
  std::optional<Advice> FromElsewhere() const {
    const auto deeper = Select(
        candidates_, [&](const std::string& path) { return path.starts_with(directory_ + "/"); });
    const auto beside = Select(candidates_, [&](const std::string& path) {
      const size_t slash = path.find('/');
      const std::string first = path.substr(0, slash);
      return slash == std::string::npos || !config::ParseVersionDirectory(first);
    });
    const auto& chosen = deeper.empty() ? beside : deeper;
    if (chosen.empty()) return std::nullopt;
    Advice advice{FoundText(folder_, chosen), {}};
    for (const Candidate& candidate : chosen) {
      if (advice.ways.size() >= kMaxWays) break;
      advice.ways.push_back(
          MoveModel(folder_, candidate, Below(directory_, WantedName(facts_, candidate.kind))));
    }
    return advice;
  }

  /// The version has a model that another backend reads.
  std::optional<Advice> OfOtherBackend() const {
    if (facts_.backend.empty() || !HasFormats(facts_.backend)) return std::nullopt;
    const auto others = Select(FindCandidates(folder_, ""), [&](const std::string& path) {
      return ParentOf(path) == directory_;
    });
    if (others.empty()) return std::nullopt;
    return Advice{FoundText(folder_, others), {SetBackend(others.front())}};
  }

  std::string SetBackend(const Candidate& candidate) const {
    const KindFormat& format = *FormatOf(candidate.kind);
    const std::string config = Shown(facts_.config_file);
    std::string steps = facts_.platform.empty() || format.platform.empty()
                            ? SetStep("backend", format.backend, config)
                            : SetStep("platform", format.platform, config);
    if (!facts_.platform.empty() && format.platform.empty()) {
      steps = Then(RemoveStep("platform", config), steps);
    }
    return steps;
  }

  /// Files that no backend reads: archives, weights without a model, models of other libraries.
  std::optional<Advice> Unserved() const {
    for (const std::string& name : folder_.Children(directory_)) {
      const std::string path = Below(directory_, name);
      if (auto advice = AdviseOnKind(path, *folder_.Find(path))) return advice;
    }
    return std::nullopt;
  }

  std::optional<Advice> Empty() const {
    const auto wanted = WantedNames();
    if (wanted.empty() || facts_.backend.empty() || !folder_.Children(directory_).empty()) {
      return std::nullopt;
    }
    return Advice{Quoted(Shown(directory_)) + " is empty",
                  {CopyStep(Shown(Below(directory_, wanted.front())))}};
  }

  // ---- The model file is there. ----

  std::optional<Advice> AdviseOnContent(const std::string& path) const {
    const FolderEntry& entry = *folder_.Find(path);
    if (entry.is_directory) return SavedModelIn(path);
    if (auto advice = AdviseOnKind(path, entry)) return advice;
    const FileKind kind = entry.content.kind;
    if (auto advice = SavedModelAsFile(path, kind)) return advice;
    if (IsModel(kind) && !MayHold(path, kind)) return OtherContent({path, kind});
    const std::string shown = Shown(path);
    if (IsModel(kind) && !entry.content.is_whole) {
      return Advice{Quoted(shown) + " is cut off", {CopyStep(shown)}};
    }
    if (kind == FileKind::kOnnx) return ExternalData(path, entry);
    if (kind == FileKind::kOpenVino) return Weights(path, entry);
    if (kind == FileKind::kTorchScript && !facts_.has_inputs) return Inputs(shown);
    return std::nullopt;
  }

  /// Returns whether the backend reads this kind. If nothing tells the backend, the name of the
  /// file does.
  bool MayHold(const std::string& path, FileKind kind) const {
    if (!facts_.backend.empty()) return Reads(facts_.backend, kind);
    for (const KindFormat& format : KindFormats()) {
      if (format.filename == LastName(path)) return format.kind == kind;
    }
    return true;
  }

  /// A directory where a saved model should be holds it one directory deeper.
  std::optional<Advice> SavedModelIn(const std::string& path) const {
    if (folder_.Find(Below(path, "saved_model.pb")) != nullptr) return std::nullopt;
    const auto inner = Select(candidates_, [&](const std::string& candidate) {
      return candidate.starts_with(path + "/");
    });
    if (inner.size() != 1 || inner.front().kind != FileKind::kSavedModel) return std::nullopt;
    return Advice{FoundText(folder_, inner), {MoveModel(folder_, inner.front(), path)}};
  }

  /// The file of a saved model is where its directory should be.
  std::optional<Advice> SavedModelAsFile(const std::string& path, FileKind kind) const {
    const KindFormat& saved_model = *FormatOf(FileKind::kSavedModel);
    const bool is_expected = facts_.platform == saved_model.platform ||
                             (facts_.platform.empty() && LastName(path) == saved_model.filename);
    const bool is_graph = kind == FileKind::kSavedModel || kind == FileKind::kGraphDef;
    if (!is_expected || (IsModel(kind) && !is_graph)) return std::nullopt;
    const std::string found = Quoted(Shown(path)) + " is a file, and a saved model is a directory";
    if (!is_graph) {
      const std::string part = Shown(Below(path, "saved_model.pb"));
      return Advice{found, {Then("move " + Quoted(Shown(path)) + " away", CopyStep(part))}};
    }
    const std::string config = Shown(facts_.config_file);
    if (kind == FileKind::kGraphDef && LastName(path) != "saved_model.pb") {
      const KindFormat& graph = *FormatOf(kind);
      const std::string set =
          facts_.platform.empty() ? std::string() : SetStep("platform", graph.platform, config);
      const std::string move = MoveStep(Shown(path), Shown(Below(directory_, graph.filename)));
      return Advice{Quoted(Shown(path)) + " is " + std::string(KindText(kind)),
                    {set.empty() ? move : Then(move, set)}};
    }
    // The name of the directory is free only after the file has another one.
    const std::string target = Below(directory_, saved_model.filename);
    const std::string part = Below(directory_, "saved_model.pb");
    std::string steps = MoveModel(folder_, {directory_, FileKind::kSavedModel}, target);
    if (path != part) {
      const std::string move = Then(MoveStep(Shown(path), Shown(part)),
                                    MoveStep(Shown(part), Shown(Below(target, "saved_model.pb"))));
      steps = steps.empty() ? move : Then(move, steps);
    }
    if (!facts_.filename.empty()) {
      steps = Then(steps, RemoveStep("default_model_filename", config));
    }
    return Advice{found, {steps}};
  }

  std::optional<Advice> AdviseOnKind(const std::string& path, const FolderEntry& entry) const {
    return AdviseOnFile(Shown(path), entry);
  }

  /// The file has the name of one backend and the content of another.
  Advice OtherContent(const Candidate& candidate) const {
    const KindFormat& format = *FormatOf(candidate.kind);
    const std::string shown = Shown(candidate.path);
    const std::string rename = MoveStep(shown, Shown(Below(directory_, format.filename)));
    Advice advice{Quoted(shown) + " is " + std::string(KindText(candidate.kind)), {}};
    std::string steps = Then(rename, SetBackend(candidate));
    if (!facts_.filename.empty()) {
      steps = Then(steps, RemoveStep("default_model_filename", Shown(facts_.config_file)));
    }
    advice.ways.push_back(facts_.has_config ? steps : rename);
    return advice;
  }

  std::optional<Advice> ExternalData(const std::string& path, const FolderEntry& entry) const {
    for (const auto& [location, bytes] : entry.external_data) {
      const std::string expected = Below(ParentOf(path), location);
      const std::string needs = Quoted(Shown(path)) + " reads " + std::to_string(bytes) +
                                " bytes of " + Quoted(Shown(expected));
      const FolderEntry* const data = folder_.Find(expected);
      if (data == nullptr) {
        const std::string elsewhere = FindFile(LastName(location));
        return Advice{needs + ", which is missing",
                      {elsewhere.empty() ? CopyStep(Shown(expected))
                                         : MoveStep(Shown(elsewhere), Shown(expected))}};
      }
      if (data->content.kind == FileKind::kUnreadable) return MakeReadable(expected);
      if (data->content.kind == FileKind::kGitLfsPointer) return AdviseOnKind(expected, *data);
      if (data->size < bytes) {
        return Advice{needs + ", which has " + std::to_string(data->size),
                      {CopyStep(Shown(expected))}};
      }
    }
    return std::nullopt;
  }

  std::string FindFile(std::string_view name) const {
    for (const auto& [path, entry] : folder_.entries) {
      if (!entry.is_directory && LastName(path) == name) return path;
    }
    return {};
  }

  std::optional<Advice> Weights(const std::string& path, const FolderEntry& entry) const {
    if (!entry.needs_weights) return std::nullopt;
    const std::string expected = path.substr(0, path.rfind('.')) + ".bin";
    if (folder_.Find(expected) != nullptr) return std::nullopt;
    const std::string found = Quoted(Shown(path)) + " needs its weights in " +
                              Quoted(Shown(expected)) + ", which is missing";
    for (const auto& [other, file] : folder_.entries) {
      if (!file.is_directory && other.ends_with(".bin")) {
        return Advice{found, {MoveStep(Shown(other), Shown(expected))}};
      }
    }
    return Advice{found, {CopyStep(Shown(expected))}};
  }

  Advice Inputs(const std::string& shown) const {
    const std::string config = Shown(facts_.config_file);
    return Advice{Quoted(shown) +
                      " is a TorchScript model, of which the configuration must list the inputs "
                      "and outputs",
                  {facts_.has_config ? AddTensorsStep(shown, config) : InitStep(shown, config)}};
  }

  const Folder& folder_;
  const ModelFacts& facts_;
  const std::string directory_;
  const std::vector<Candidate> candidates_;
};

}  // namespace

std::optional<Advice> AdviseOnFile(const std::string& path, const FolderEntry& entry) {
  if (entry.is_directory) return std::nullopt;
  const FileKind kind = entry.content.kind;
  std::string way =
      ExportWay(kind, [&](std::string_view name) { return Below(ParentOf(path), name); });
  if (kind == FileKind::kUnreadable) {
    return Advice{Quoted(path) + " cannot be read", {MakeReadableStep(path)}};
  }
  const bool was_model = MeantKind(path, entry) != FileKind::kOther;
  if (kind == FileKind::kHtml || (kind == FileKind::kEmpty && was_model)) way = CopyStep(path);
  if (kind == FileKind::kGitLfsPointer) way = GitLfsStep(path);
  if (kind == FileKind::kArchive) way = UnpackStep(path, ParentOf(path));
  if (way.empty()) return std::nullopt;
  return Advice{Quoted(path) + " is " + std::string(KindText(kind)), {std::move(way)}};
}

std::optional<Advice> AdviseOnVersion(const Folder& folder, const ModelFacts& facts,
                                      int64_t version) {
  if (!facts.backend.empty() && !HasFormats(facts.backend)) return std::nullopt;
  auto advice = VersionRules(folder, facts, version).Apply();
  // A configuration that was not found may say what is missing.
  const auto misnamed = AdviseOnConfigName(folder, facts);
  return advice && misnamed && facts.backend.empty() ? misnamed : advice;
}

}  // namespace nereid::layout
