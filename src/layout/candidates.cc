// SPDX-License-Identifier: Apache-2.0
#include "layout/candidates.h"

#include <algorithm>

#include "base/ascii_case.h"

namespace nereid::layout {
namespace {

constexpr KindFormat kFormats[] = {
    {FileKind::kOnnx, "onnxruntime", "onnxruntime_onnx", "model.onnx", {".onnx"}},
    {FileKind::kTorchScript,
     "pytorch",
     "pytorch_libtorch",
     "model.pt",
     {".pt", ".pth", ".torchscript", ".ts"}},
    {FileKind::kSavedModel, "tensorflow", "tensorflow_savedmodel", "model.savedmodel", {}},
    {FileKind::kGraphDef, "tensorflow", "tensorflow_graphdef", "model.graphdef", {".graphdef"}},
    {FileKind::kOpenVino, "openvino", "", "model.xml", {".xml"}},
    {FileKind::kPython, "python", "", "model.py", {".py"}},
    {FileKind::kTensorRtPlan, "tensorrt", "tensorrt_plan", "model.plan", {".plan", ".engine"}},
    {FileKind::kNetDef, "caffe2", "caffe2_netdef", "model.netdef", {".netdef"}},
};

/// The net that sets the parameters of model.netdef.
constexpr std::string_view kNetParameters = "init_model.netdef";

FileKind KindByEnding(std::string_view path) {
  const std::string name = base::ToLower(LastName(path));
  if (name == "saved_model.pb") return FileKind::kSavedModel;
  for (const KindFormat& format : kFormats) {
    for (const std::string_view ending : format.endings) {
      if (!ending.empty() && name.ends_with(ending)) return format.kind;
    }
  }
  return FileKind::kOther;
}

/// Returns the name with another ending: "net.xml" and ".bin" give "net.bin".
std::string WithEnding(std::string_view path, std::string_view ending) {
  const size_t dot = path.rfind('.');
  return std::string(path.substr(0, dot)) + std::string(ending);
}

/// A file that moves with its model.
struct Move {
  std::string from;
  std::string to;
};

/// Returns the parts of a saved model in `directory` that exist. A directory that holds other
/// things, too, must not move as a whole.
std::vector<Move> PartsOfSavedModel(const Folder& folder, const std::string& directory,
                                    const std::string& target) {
  std::vector<Move> moves;
  for (const char* part : {"saved_model.pb", "variables", "assets", "assets.extra",
                           "fingerprint.pb", "keras_metadata.pb"}) {
    const std::string path = Below(directory, part);
    if (folder.Find(path) != nullptr) moves.push_back({path, Below(target, part)});
  }
  return moves;
}

std::vector<Move> PartsOf(const Folder& folder, const Candidate& candidate,
                          const std::string& target) {
  const std::string source(ParentOf(candidate.path));
  const std::string destination(ParentOf(target));
  std::vector<Move> moves{{candidate.path, target}};
  const auto also = [&](const std::string& from, const std::string& to) {
    if (from != to && folder.Find(from) != nullptr) moves.push_back({from, to});
  };
  if (candidate.kind == FileKind::kOpenVino) {
    also(WithEnding(candidate.path, ".bin"), WithEnding(target, ".bin"));
  }
  if (candidate.kind == FileKind::kOnnx) {
    for (const auto& [location, bytes] : folder.Find(candidate.path)->external_data) {
      also(Below(source, location), Below(destination, location));
    }
  }
  if (candidate.kind == FileKind::kNetDef) {
    also(Below(source, kNetParameters), Below(destination, kNetParameters));
  }
  if (candidate.kind == FileKind::kPython) {
    for (const std::string& name : folder.Children(source)) {
      const std::string path = Below(source, name);
      if (path != candidate.path && name.ends_with(".py")) also(path, Below(destination, name));
    }
  }
  return moves;
}

}  // namespace

std::span<const KindFormat> KindFormats() { return kFormats; }

const KindFormat* FormatOf(FileKind kind) {
  const auto* const found = std::ranges::find(kFormats, kind, &KindFormat::kind);
  return found == std::end(kFormats) ? nullptr : found;
}

bool HasFormats(std::string_view backend) {
  return std::ranges::find(kFormats, backend, &KindFormat::backend) != std::end(kFormats);
}

FileKind MeantKind(std::string_view path, const FolderEntry& entry) {
  if (entry.is_directory) return FileKind::kOther;
  switch (entry.content.kind) {
    case FileKind::kTorchPickle:
      return FileKind::kTorchScript;
    case FileKind::kOther:
    case FileKind::kUnreadable:
    case FileKind::kEmpty:
    case FileKind::kGitLfsPointer:
    case FileKind::kHtml:
      return KindByEnding(path);
    default:
      break;
  }
  // Some saved models begin as an ONNX model or a graph could.
  if (LastName(path) == "saved_model.pb") return FileKind::kSavedModel;
  return IsModel(entry.content.kind) ? entry.content.kind : FileKind::kOther;
}

bool Reads(std::string_view backend, FileKind kind) {
  const KindFormat* const format = FormatOf(kind);
  if (format == nullptr) return false;
  if (backend.empty() || format->backend == backend) return true;
  return backend == "openvino" && kind == FileKind::kOnnx;
}

std::vector<Candidate> FindCandidates(const Folder& folder, std::string_view backend) {
  std::vector<Candidate> candidates;
  for (const auto& [path, entry] : folder.entries) {
    if (path.starts_with("configs/")) continue;
    const FileKind kind = MeantKind(path, entry);
    if (kind == FileKind::kOther || !Reads(backend, kind)) continue;
    if (kind == FileKind::kPython && backend.empty() &&
        base::ToLower(LastName(path)) != "model.py") {
      continue;
    }
    if (LastName(path) == kNetParameters) continue;
    const bool is_saved_model = kind == FileKind::kSavedModel;
    candidates.push_back({is_saved_model ? std::string(ParentOf(path)) : path, kind});
  }
  // Of several Python sources, the one with the right name is the model, and the others are parts.
  const auto is_model_py = [](const Candidate& c) { return LastName(c.path) == "model.py"; };
  if (std::any_of(candidates.begin(), candidates.end(), is_model_py)) {
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return candidate.kind == FileKind::kPython && !is_model_py(candidate);
    });
  }
  return candidates;
}

std::string WantedName(const ModelFacts& facts, FileKind kind) {
  if (!facts.filename.empty()) return facts.filename;
  const KindFormat* const format = FormatOf(kind);
  return format == nullptr ? std::string() : std::string(format->filename);
}

std::string InRepository(const Folder& folder, std::string_view path) {
  return path.empty() ? folder.name : Below(folder.name, path);
}

std::string MoveModel(const Folder& folder, const Candidate& candidate, const std::string& target) {
  // The directory of a saved model moves as a whole, unless it is one that holds the target.
  const bool in_parts = candidate.kind == FileKind::kSavedModel &&
                        (candidate.path.empty() || target.starts_with(candidate.path + "/") ||
                         candidate.path.starts_with(target + "/"));
  std::string steps;
  for (const Move& move : in_parts ? PartsOfSavedModel(folder, candidate.path, target)
                                   : PartsOf(folder, candidate, target)) {
    const std::string step =
        MoveStep(InRepository(folder, move.from), InRepository(folder, move.to));
    steps = steps.empty() ? step : Then(steps, step);
  }
  return steps;
}

std::string FoundText(const Folder& folder, const std::vector<Candidate>& candidates) {
  std::string text = "found ";
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::string path = candidates[i].kind == FileKind::kSavedModel
                                 ? Below(candidates[i].path, "saved_model.pb")
                                 : candidates[i].path;
    text += (i > 0 ? " and " : "") + Quoted(InRepository(folder, path));
  }
  return text;
}

}  // namespace nereid::layout
