// SPDX-License-Identifier: Apache-2.0
// Derives name, platform, backend and default file name from each other and from the files.
#include "config/complete/complete.h"
#include "config/complete/completion.h"
#include "config/known_backends.h"
#include "config/version_policy.h"

namespace nereid::config {
namespace {

using Entries = std::vector<ModelFiles::Entry>;
using Proto = inference::ModelConfig;

// Where a configuration that has no backend or no platform gets it from.
enum class BackendSource {
  kNone,       // an ensemble: it has no backend and no file
  kWritten,    // the backend is written
  kPlatform,   // the platform is written
  kModelFile,  // default_model_filename or a file of the first version
  kModelName,  // the end of the model's name
};

struct FoundFormat {
  const KnownBackend* backend = nullptr;
  const ModelFormat* format = nullptr;
};

struct Derivation {
  const std::string& directory_name;
  BackendSource source = BackendSource::kNone;
  FoundFormat found;  // kModelFile
  Proto* config = nullptr;
};

bool Holds(const Entries& entries, const ModelFormat& format) {
  for (const ModelFiles::Entry& entry : entries) {
    if (entry.name != format.filename) continue;
    return format.kind == ModelFileKind::kEither ||
           entry.is_directory == (format.kind == ModelFileKind::kDirectory);
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

// Returns the format that default_model_filename names or, if it is empty, the first one that the
// first version contains. If the backend is written, only its formats count.
FoundFormat FindFormat(const Proto& written, const Entries* entries) {
  for (const KnownBackend& backend : KnownBackends()) {
    if (!written.backend().empty() && written.backend() != backend.name) continue;
    for (const ModelFormat& format : backend.formats) {
      const bool found = written.default_model_filename().empty()
                             ? entries != nullptr && Holds(*entries, format)
                             : written.default_model_filename() == format.filename;
      if (found) return {&backend, &format};
    }
  }
  return {};
}

BackendSource SourceOf(const Proto& written, const FoundFormat& found) {
  if (written.platform() == kEnsemblePlatform) return BackendSource::kNone;
  if (!written.platform().empty()) {
    return written.backend().empty() ? BackendSource::kPlatform : BackendSource::kWritten;
  }
  if (found.format != nullptr) return BackendSource::kModelFile;
  const bool nothing_given = written.backend().empty() && written.default_model_filename().empty();
  return nothing_given ? BackendSource::kModelName : BackendSource::kWritten;
}

// A model named "name.backend" uses that backend; the backend begins after the first dot.
std::string_view BackendInName(std::string_view name) {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

void SetName(const Derivation& derivation) {
  Proto* const config = derivation.config;
  if (config->name().empty()) config->set_name(derivation.directory_name);
}

void SetBackend(const Derivation& derivation) {
  Proto* const config = derivation.config;
  switch (derivation.source) {
    case BackendSource::kNone:
    case BackendSource::kWritten:
      return;
    case BackendSource::kPlatform:
      return config->set_backend(std::string(BackendOfPlatform(config->platform())));
    case BackendSource::kModelFile:
      return config->set_backend(std::string(derivation.found.backend->name));
    case BackendSource::kModelName:
      return config->set_backend(std::string(BackendInName(config->name())));
  }
}

void SetPlatform(const Derivation& derivation) {
  Proto* const config = derivation.config;
  if (!config->platform().empty()) return;
  if (derivation.source == BackendSource::kModelFile) {
    config->set_platform(std::string(derivation.found.format->platform));
  } else if (derivation.source == BackendSource::kWritten) {
    config->set_platform(
        std::string(PlatformOfBackend(config->backend(), config->default_model_filename())));
  }
}

void SetFilename(const Derivation& derivation) {
  Proto* const config = derivation.config;
  const bool written = !config->default_model_filename().empty();
  if (written || derivation.source == BackendSource::kNone) return;
  if (derivation.source == BackendSource::kModelName) {
    return config->set_default_model_filename("model." + config->backend());
  }
  // With a Python runtime instead of LibTorch, the runtime finds its files itself.
  if (config->backend() == "pytorch" && config->runtime() == "model.py") return;
  config->set_default_model_filename(
      std::string(DefaultFilename(config->backend(), config->platform())));
}

// Returns the path of the model file that determined the backend, or an empty string.
std::string DeterminingFile(const ModelFiles& files, const std::string& filename) {
  for (const auto& [directory, entries] : files.subdirectories) {
    if (!ParseVersionDirectory(directory)) continue;
    for (const auto& entry : entries) {
      if (entry.name == filename) return directory + "/" + filename;
    }
  }
  return "";
}

std::string NameReason(const CompletionContext&) { return "the name of the directory"; }

std::string BackendReason(const CompletionContext& context) {
  const ModelConfig& written = context.written;
  if (!written.platform().empty()) return "the backend of platform '" + written.platform() + "'";
  if (!written.default_model_filename().empty()) {
    return "the backend of files named '" + written.default_model_filename() + "'";
  }
  const std::string file =
      DeterminingFile(context.files, context.effective.default_model_filename());
  if (!file.empty()) return "the file " + file;
  return "the end of the model's name";
}

std::string PlatformReason(const CompletionContext& context) {
  if (context.written.backend().empty()) return BackendReason(context);
  return "the platform of backend '" + context.written.backend() + "'";
}

std::string FilenameReason(const CompletionContext& context) {
  return "what backend '" + context.effective.backend() + "' reads by convention";
}

std::string DecoupledReason(const CompletionContext&) {
  return "the models that the ensemble calls";
}

// An ensemble is made decoupled where its members are known: by the ensemble when it is loaded.
constexpr Completion<Derivation> kDerivations[] = {
    {{"derive.name", "name", "The name of the directory.", NameReason}, SetName},
    {{"derive.backend", "backend",
      "From the platform, the name or presence of a model file, or the end of the model's name.",
      BackendReason},
     SetBackend},
    {{"derive.platform", "platform", "The platform of the backend and the file.", PlatformReason},
     SetPlatform},
    {{"derive.default_model_filename", "default_model_filename",
      "The file that the backend reads by convention.", FilenameReason},
     SetFilename},
    {{"derive.decoupled", "model_transaction_policy.decoupled",
      "An ensemble is decoupled if one of the models that it calls is.", DecoupledReason},
     nullptr},
};

}  // namespace

void ListDerivations(std::vector<CompletionInfo>* list) { List(kDerivations, list); }

base::Result<ModelConfigPtr> CompleteModelConfig(const ModelConfig& config,
                                                 const ModelFiles& files) {
  Proto proto = config.proto();
  const FoundFormat found = FindFormat(proto, FirstVersion(files));
  const BackendSource source = SourceOf(proto, found);
  const std::string& name = proto.name().empty() ? files.directory_name : proto.name();
  if (source == BackendSource::kModelName && BackendInName(name).empty()) {
    return base::Status::InvalidArgument(
        "Invalid model name: Could not determine backend for model '" + name +
        "' with no backend in model configuration. Expected model name of the form "
        "'model.<backend_name>'.");
  }
  Apply(kDerivations, Derivation{files.directory_name, source, found, &proto});
  return NormalizeModelConfig(*ModelConfig::Create(std::move(proto)));
}

}  // namespace nereid::config
