// SPDX-License-Identifier: Apache-2.0
// Checks the files of a configuration: the model, labels, data, the backend's library.
#include <filesystem>

#include "base/files.h"
#include "base/near_name.h"
#include "config/backend_library.h"
#include "config/known_backends.h"
#include "config/labels.h"
#include "config/rules/model_paths.h"
#include "config/version_policy.h"
#include "model_config.pb.h"
#include "repository/check/check_rules.h"
#include "repository/check/model_check.h"
#include "tensor/shape.h"

namespace nereid::repository::check {
namespace {

namespace fs = std::filesystem;

using config::ModelConfig;

std::string VersionDirectory(const CheckedModel& model, int64_t version) {
  return base::JoinPath(model.directory().path, std::to_string(version));
}

const config::ModelFiles::Entry* FindEntry(const config::ModelFiles& files, int64_t version,
                                           const std::string& name) {
  const auto found = files.subdirectories.find(std::to_string(version));
  if (found == files.subdirectories.end()) return nullptr;
  for (const auto& entry : found->second) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// Returns the entries of a version, for the message.
std::string Contents(const config::ModelFiles& files, int64_t version) {
  const auto found = files.subdirectories.find(std::to_string(version));
  if (found == files.subdirectories.end() || found->second.empty()) return "its directory is empty";
  constexpr size_t kShown = 5;
  std::string text = "its directory holds ";
  for (size_t i = 0; i < found->second.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + found->second[i].name;
  }
  return found->second.size() > kShown ? text + ", …" : text;
}

void CheckModelFile(const config::ModelFiles& files, int64_t version, const std::string& field,
                    const std::string& name, CheckedModel* model) {
  const ModelConfig& config = *model->config();
  const std::string start =
      "version " + std::to_string(version) + " of model '" + model->directory().name + "' has no ";
  const std::string path = base::JoinPath(VersionDirectory(*model, version), name);
  if (config.platform() == "tensorflow_savedmodel") {
    if (base::IsDirectory(path)) return;
    model->AddOfVersion(kModelFile, version, field,
                        start + "directory '" + name + "': " + Contents(files, version),
                        "the directory " + path);
    return;
  }
  // A name may lead into a directory of the version.
  const auto* entry = FindEntry(files, version, name);
  if (entry != nullptr || base::PathExists(path)) return;
  model->AddOfVersion(kModelFile, version, field,
                      start + "file '" + name + "': " + Contents(files, version),
                      "the file " + path);
}

// Checks the model file of backends that are known to read it. Others may use the name otherwise.
void CheckModelFiles(const config::ModelFiles& files, CheckedModel* model) {
  const ModelConfig& config = *model->config();
  if (config::DefaultFilename(config.backend(), config.platform()).empty()) return;
  if (config.default_model_filename().empty()) return;
  for (const int64_t version : model->versions()) {
    // Other backends do not use the names for compute capabilities, of which a warning tells.
    const bool uses_names = config.backend() == "tensorrt" && !config.cc_model_filenames().empty();
    for (const auto& [capability, name] : config.cc_model_filenames()) {
      if (!uses_names) break;
      CheckModelFile(files, version, "cc_model_filenames[" + capability + "]", name, model);
    }
    if (uses_names) continue;
    CheckModelFile(files, version, "default_model_filename", config.default_model_filename(),
                   model);
  }
}

void CheckLabels(CheckedModel* model) {
  const auto& outputs = model->config()->outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].label_filename.empty()) continue;
    const std::string field = "output[" + std::to_string(i) + "].label_filename";
    if (model->HasErrorAt(field)) continue;
    const auto labels = config::ReadLabelFile(model->directory().path, outputs[i].label_filename);
    if (labels.ok()) continue;
    model->Add(kLabelFile, field, labels.status().message());
  }
}

// Checks a file of raw values; `dims` has no batch dimension. Texts have no fixed size.
void CheckDataFile(const RuleInfo& rule, const std::string& folder, const std::string& name,
                   inference::DataType type, const google::protobuf::RepeatedField<int64_t>& dims,
                   const std::string& field, CheckedModel* model) {
  if (model->HasErrorAt(field)) return;
  const std::string path = base::JoinPath(base::JoinPath(model->directory().path, folder), name);
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) {
    model->Add(rule, field,
               "failed to open the data file " + path + " of model '" + model->directory().name +
                   "': " + error.message());
    return;
  }
  if (!inference::DataType_IsValid(type) || type == inference::TYPE_STRING) return;
  const std::vector<int64_t> shape(dims.begin(), dims.end());
  const auto needed = tensor::ByteSize(static_cast<tensor::DataType>(type), shape);
  if (!needed || size >= *needed) return;
  model->Add(rule, field,
             "the data file " + path + " of model '" + model->directory().name + "' has " +
                 std::to_string(size) + " bytes",
             "at least " + std::to_string(*needed) + " bytes");
}

void CheckWarmup(CheckedModel* model) {
  int index = 0;
  for (const auto& sample : model->config()->proto().model_warmup()) {
    const std::string path = "model_warmup[" + std::to_string(index++) + "].inputs[";
    const std::map<std::string, inference::ModelWarmup::Input> inputs(sample.inputs().begin(),
                                                                      sample.inputs().end());
    for (const auto& [name, input] : inputs) {
      if (!input.has_input_data_file()) continue;
      CheckDataFile(kWarmupFile, "warmup", input.input_data_file(), input.data_type(), input.dims(),
                    path + name + "].input_data_file", model);
    }
  }
}

void CheckInitialStates(CheckedModel* model) {
  int index = 0;
  for (const auto& state : model->config()->proto().sequence_batching().state()) {
    const std::string path = "sequence_batching.state[" + std::to_string(index++) + "].";
    for (int i = 0; i < state.initial_state_size(); ++i) {
      const auto& initial = state.initial_state(i);
      if (!initial.has_data_file()) continue;
      CheckDataFile(kInitialStateFile, "initial_state", initial.data_file(), initial.data_type(),
                    initial.dims(), path + "initial_state[" + std::to_string(i) + "].data_file",
                    model);
    }
  }
}

// Returns "<path>" and, if a backend with a similar name is installed, that name.
std::string ExpectedLibrary(const std::string& path, const std::string& backend,
                            const std::string& backend_directory) {
  const auto installed = base::ListSubdirectories(backend_directory);
  if (!installed.ok()) return path;
  const std::vector<std::string_view> names(installed->begin(), installed->end());
  const std::string_view nearest = base::NearestName(backend, names);
  if (nearest.empty() || nearest == backend) return path;
  return path + "; there is a backend '" + std::string(nearest) + "'";
}

void CheckBackendLibrary(const std::string& backend_directory, CheckedModel* model) {
  const ModelConfig& config = *model->config();
  if (backend_directory.empty() || config.is_ensemble() || config.backend().empty()) return;
  // A version may contain its own library; the check looks in all versions.
  std::vector<int64_t> versions = model->versions();
  if (versions.empty()) versions.push_back(1);
  for (const int64_t version : versions) {
    const config::BackendLibrarySearch search{config.name(), config.backend(), config.runtime(),
                                              VersionDirectory(*model, version),
                                              model->directory().path};
    const auto places = config::BackendLibraryPlaces(search, backend_directory);
    if (!places.ok()) {
      model->Add(kBackendLibrary, config.runtime().empty() ? "backend" : "runtime",
                 places.status().message(), "a plain name");
      return;
    }
    if (config::HasBackendLibrary(search, backend_directory)) continue;
    const std::string field = !config.runtime().empty() ? "runtime" : "backend";
    model->Add(kBackendLibrary, field, config::NoBackendLibraryText(search, backend_directory),
               ExpectedLibrary(places->empty() ? "model.py" : places->back(), config.backend(),
                               backend_directory));
    return;
  }
}

void CheckAgentLibraries(const std::string& agent_directory, CheckedModel* model) {
  if (agent_directory.empty()) return;
  const auto& agents = model->config()->proto().model_repository_agents().agents();
  for (int i = 0; i < agents.size(); ++i) {
    const std::string& name = agents[i].name();
    const std::string field = "model_repository_agents.agents[" + std::to_string(i) + "].name";
    const std::string path = config::RepositoryAgentLibrary(agent_directory, name);
    if (model->HasErrorAt(field) || base::PathExists(path)) continue;
    model->Add(kAgentLibrary, field,
               "there is no repository agent '" + name + "', which model '" +
                   model->directory().name + "' needs",
               path);
  }
}

}  // namespace

void CheckFiles(const config::ModelFiles& files, const CheckOptions& options, CheckedModel* model) {
  CheckModelFiles(files, model);
  CheckLabels(model);
  CheckWarmup(model);
  CheckInitialStates(model);
  CheckBackendLibrary(options.backend_directory, model);
  CheckAgentLibraries(options.repoagent_directory, model);
}

}  // namespace nereid::repository::check
