// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/openvino.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

namespace nereid::onnxruntime {
namespace {

/// Opens the openvino plug-in, which is never closed: OpenVINO's threads would crash if their code
/// were unloaded.
Error OpenLibrary(const std::string& directory, const backend::ModelConfig& config,
                  const NereidOpenVinoAccelerator** library) {
  const auto path =
      std::filesystem::path(directory).parent_path() / "openvino" / "libtriton_openvino.so";
  const std::string what = "model '" + config.name +
                           "': the Execution Accelerator 'openvino' needs the backend 'openvino'";
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    return Error::Unsupported(what + ", but there is no " + path.string() +
                              "; install it (./start --backends openvino), or remove the "
                              "accelerator from optimization.execution_accelerators");
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error::Unsupported(what + ", which cannot be opened: " + dlerror());
  }
  const auto get = reinterpret_cast<const NereidOpenVinoAccelerator* (*)()>(
      dlsym(handle, "NereidGetOpenVinoAccelerator"));
  if (get == nullptr || get()->version != NEREID_OPENVINO_ACCELERATOR_VERSION) {
    return Error::Unsupported(what + " of the same build as this one; " + path.string() +
                              " is another");
  }
  *library = get();
  return {};
}

}  // namespace

Error OpenVinoModel::Load(const std::string& directory, const backend::ModelConfig& config,
                          const backend::AcceleratorConfig& accelerator, const std::string& path,
                          TRITONBACKEND_Model* model, std::unique_ptr<OpenVinoModel>* loaded) {
  if (path.empty()) {
    return Error::Unsupported("model '" + config.name +
                              "': the Execution Accelerator 'openvino' runs ONNX files only");
  }
  const NereidOpenVinoAccelerator* library = nullptr;
  NEREID_BACKEND_TRY(OpenLibrary(directory, config, &library));
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : accelerator.parameters) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  NereidOpenVinoModel* opened = nullptr;
  NEREID_BACKEND_TRY(
      library->LoadModel(model, path.c_str(), keys.data(), values.data(), keys.size(), &opened));
  *loaded = std::make_unique<OpenVinoModel>(library, opened);
  return {};
}

Error OpenVinoModel::MakeInstance(TRITONBACKEND_ModelInstance* instance,
                                  std::unique_ptr<OpenVinoInstance>* made) const {
  NereidOpenVinoInstance* opened = nullptr;
  NEREID_BACKEND_TRY(library_.LoadInstance(loaded_, instance, &opened));
  *made = std::make_unique<OpenVinoInstance>(&library_, opened);
  return {};
}

}  // namespace nereid::onnxruntime
