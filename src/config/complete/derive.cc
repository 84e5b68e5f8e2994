// SPDX-License-Identifier: Apache-2.0
// Derives platform, backend and default file name from each other and from the files.
#include <array>

#include "config/complete/complete.h"
#include "config/known_backends.h"
#include "config/version_policy.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using Entries = std::vector<ModelFiles::Entry>;
using Proto = inference::ModelConfig;

// How a version's directory identifies a backend: by a file, a directory, or either.
enum class ArtefactKind { kFile, kDirectory, kEither };

struct Artefact {
  std::string_view filename;
  ArtefactKind kind;
  std::string_view backend;
  // Empty for backends without platforms.
  std::string_view platform;
};

// In order of precedence: the first artifact that is named or found determines the backend.
constexpr std::array<Artefact, 10> kArtefacts = {{
    {"model.graphdef", ArtefactKind::kFile, "tensorflow", "tensorflow_graphdef"},
    {"model.savedmodel", ArtefactKind::kDirectory, "tensorflow", "tensorflow_savedmodel"},
    {"model.plan", ArtefactKind::kFile, "tensorrt", "tensorrt_plan"},
    {"model.onnx", ArtefactKind::kEither, "onnxruntime", "onnxruntime_onnx"},
    {"model.xml", ArtefactKind::kFile, "openvino", ""},
    {"model.pt", ArtefactKind::kFile, "pytorch", "pytorch_libtorch"},
    {"model.pt2", ArtefactKind::kFile, "pytorch", "torch_aoti"},
    {"model.py", ArtefactKind::kFile, "python", ""},
    {"model.netdef", ArtefactKind::kFile, "caffe2", "caffe2_netdef"},
    {"libcustom.so", ArtefactKind::kFile, "custom", "custom"},
}};

bool Holds(const Entries& entries, const Artefact& artefact) {
  for (const ModelFiles::Entry& entry : entries) {
    if (entry.name != artefact.filename) continue;
    switch (artefact.kind) {
      case ArtefactKind::kFile:
        return !entry.is_directory;
      case ArtefactKind::kDirectory:
        return entry.is_directory;
      case ArtefactKind::kEither:
        return true;
    }
  }
  return false;
}

// Returns the entries of the first version in text order ("10" before "2"), like Triton. Without
// any version, returns those of the first subdirectory, or null.
const Entries* FirstVersion(const ModelFiles& files) {
  for (const auto& [name, entries] : files.subdirectories) {
    if (ParseVersionDirectory(name)) return &entries;
  }
  return files.subdirectories.empty() ? nullptr : &files.subdirectories.begin()->second;
}

// Returns the artifact that default_model_filename names or, if it is empty, the first one that is
// found. Null if there is none.
const Artefact* FindArtefact(const Proto& proto, const Entries* entries) {
  for (const Artefact& artefact : kArtefacts) {
    if (!proto.backend().empty() && proto.backend() != artefact.backend) continue;
    if (proto.default_model_filename().empty()) {
      if (entries != nullptr && Holds(*entries, artefact)) return &artefact;
    } else if (proto.default_model_filename() == artefact.filename) {
      return &artefact;
    }
  }
  return nullptr;
}

bool NothingGiven(const Proto& proto) {
  return proto.platform().empty() && proto.backend().empty() &&
         proto.default_model_filename().empty();
}

// A model named "name.backend" uses that backend, and its file is model.backend.
base::Status DeriveFromName(Proto* proto) {
  const size_t dot = proto->name().find('.');
  if (dot == std::string::npos || dot + 1 == proto->name().size()) {
    return base::Status::InvalidArgument(
        "Invalid model name: Could not determine backend for model '" + proto->name() +
        "' with no backend in model configuration. Expected model name of the form "
        "'model.<backend_name>'.");
  }
  proto->set_backend(proto->name().substr(dot + 1));
  proto->set_default_model_filename("model." + proto->backend());
  return base::Status::Ok();
}

base::Status DeriveBackend(const ModelFiles& files, Proto* proto) {
  // An ensemble has no backend and no file.
  if (proto->platform() == kEnsemblePlatform) return base::Status::Ok();
  if (proto->backend().empty() && !proto->platform().empty()) {
    proto->set_backend(std::string(BackendOfPlatform(proto->platform())));
  } else if (proto->platform().empty()) {
    if (const Artefact* artefact = FindArtefact(*proto, FirstVersion(files))) {
      proto->set_backend(std::string(artefact->backend));
      proto->set_platform(std::string(artefact->platform));
    } else if (NothingGiven(*proto)) {
      return DeriveFromName(proto);
    } else {
      proto->set_platform(
          std::string(PlatformOfBackend(proto->backend(), proto->default_model_filename())));
    }
  }
  // With a Python runtime instead of LibTorch, the runtime finds its files itself.
  const bool other_runtime = proto->backend() == "pytorch" && proto->runtime() == "model.py";
  if (proto->default_model_filename().empty() && !other_runtime) {
    proto->set_default_model_filename(
        std::string(DefaultFilename(proto->backend(), proto->platform())));
  }
  return base::Status::Ok();
}

}  // namespace

base::Result<ModelConfigPtr> CompleteModelConfig(const ModelConfig& config,
                                                 const ModelFiles& files) {
  Proto proto = config.proto();
  if (proto.name().empty()) proto.set_name(files.directory_name);
  NEREID_RETURN_IF_ERROR(DeriveBackend(files, &proto));
  return NormalizeModelConfig(*ModelConfig::Create(std::move(proto)));
}

}  // namespace nereid::config
