// SPDX-License-Identifier: Apache-2.0
#include "custom/model.h"

#include <algorithm>
#include <filesystem>

#include "custom/serialized_config.h"
#include "framework/printable.h"
#include "framework/version_file.h"

namespace nereid::custom {
namespace {

using backend::ModelConfig;

Error Unsupported(const ModelConfig& config, const std::string& feature) {
  return Error::Unsupported("model '" + config.name + "': " + feature +
                            " is not supported for a custom library");
}

}  // namespace

const CustomOutput* CustomSignature::FindOutput(std::string_view name) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const CustomOutput& output) {
    return output.tensor.name == name;
  });
  return found == outputs.end() ? nullptr : &*found;
}

Error MakeSignature(const ModelConfig& config, CustomSignature* signature) {
  if (config.decoupled) {
    return Unsupported(config, "model_transaction_policy.decoupled");
  }
  if (!config.batch_inputs.empty()) {
    return Unsupported(config, "batch_input");
  }
  if (!config.batch_outputs.empty()) {
    return Unsupported(config, "batch_output");
  }
  if (config.inputs.empty() || config.outputs.empty()) {
    return Error::InvalidArgument("model '" + config.name +
                                  "': a custom library does not say what its inputs and outputs "
                                  "are; write input and output into the configuration");
  }
  signature->model_name = config.name;
  signature->batching = config.batching();
  for (const backend::TensorConfig& input : config.inputs) {
    signature->inputs.push_back(input.name);
  }
  for (const backend::ControlConfig& control : config.controls) {
    signature->inputs.push_back(control.name);
  }
  for (const backend::TensorConfig& output : config.outputs) {
    signature->outputs.push_back({output, true, false});
  }
  for (const backend::StateConfig& state : config.states) {
    signature->inputs.push_back(state.input_name);
    const auto listed = std::find_if(
        signature->outputs.begin(), signature->outputs.end(),
        [&](const CustomOutput& output) { return output.tensor.name == state.output.name; });
    if (listed == signature->outputs.end()) {
      signature->outputs.push_back({state.output, false, true});
    } else {
      listed->state = true;
    }
  }
  return {};
}

Error CustomModel::Load(TRITONBACKEND_Model* model) {
  ModelConfig config;
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
  NEREID_BACKEND_TRY(MakeSignature(config, &signature_));
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelConfig(model, 1, &message));
  const Error serialized = backend::Catching([&]() -> Error {
    const char* text = nullptr;
    size_t size = 0;
    NEREID_BACKEND_TRY(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
    return SerializeConfig({text, size}, &serialized_config_);
  });
  const Error deleted(TRITONSERVER_MessageDelete(message));
  if (!serialized.ok()) {
    return Error::Internal("model '" + config.name + "': " + serialized.message());
  }
  NEREID_BACKEND_TRY(ReadServerVersion(model));
  const std::filesystem::path folder =
      std::filesystem::absolute(config.directory).lexically_normal();
  repository_path_ =
      (folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path()).string();
  std::filesystem::path path;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "libcustom.so", &path));
  if (!std::filesystem::is_regular_file(path)) {
    return framework::MissingFile(config, path);
  }
  return CustomLibrary::Open("model '" + config.name + "'",
                             std::filesystem::absolute(path).lexically_normal().string(),
                             &library_);
}

Error CustomModel::ReadServerVersion(TRITONBACKEND_Model* model) {
  TRITONSERVER_Server* server = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelServer(model, &server));
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(TRITONSERVER_ServerMetadata(server, &message));
  rapidjson::Document document;
  Error parsed = backend::Catching([&] { return backend::ParseMessage(message, &document); });
  const Error deleted(TRITONSERVER_MessageDelete(message));
  if (parsed.ok()) {
    server_version_ = backend::TextOf(backend::Member(&document, "version"));
  }
  return parsed;
}

Error CustomModel::Failure(const char* function, void* context, int code) const {
  std::string words = "no text for it";
  const Error asked = backend::Catching([&]() -> Error {
    const char* text = library_->functions().error_string(context, code);
    if (text != nullptr) {
      words = framework::Printable(text);
    }
    return {};
  });
  return Error::Internal("model '" + signature_.model_name + "': " + function + " of '" +
                         library_->path() + "' failed with code " + std::to_string(code) + " (" +
                         words + ")");
}

}  // namespace nereid::custom
