// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "nereid/backend/model_config.h"
#include "openvino/accelerator.h"

namespace nereid::onnxruntime {

using backend::Error;

/// An instance that OpenVINO executes.
class OpenVinoInstance {
 public:
  OpenVinoInstance(const NereidOpenVinoAccelerator* library, NereidOpenVinoInstance* loaded)
      : library_(*library), loaded_(loaded) {}
  OpenVinoInstance(const OpenVinoInstance&) = delete;
  OpenVinoInstance& operator=(const OpenVinoInstance&) = delete;
  ~OpenVinoInstance() { library_.UnloadInstance(loaded_); }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    library_.Execute(loaded_, instance, requests, count);
  }

 private:
  const NereidOpenVinoAccelerator& library_;
  NereidOpenVinoInstance* const loaded_;
};

/// An ONNX model that OpenVINO executes through the openvino plug-in. Must outlive its instances.
class OpenVinoModel {
 public:
  /// Opens the file `path` for `model` with the openvino plug-in, which is looked for beside
  /// `directory`, the directory of the onnxruntime plug-in. UNSUPPORTED if it is not installed,
  /// with a hint how to install it.
  static Error Load(const std::string& directory, const backend::ModelConfig& config,
                    const backend::AcceleratorConfig& accelerator, const std::string& path,
                    TRITONBACKEND_Model* model, std::unique_ptr<OpenVinoModel>* loaded);

  OpenVinoModel(const NereidOpenVinoAccelerator* library, NereidOpenVinoModel* loaded)
      : library_(*library), loaded_(loaded) {}
  OpenVinoModel(const OpenVinoModel&) = delete;
  OpenVinoModel& operator=(const OpenVinoModel&) = delete;
  ~OpenVinoModel() { library_.UnloadModel(loaded_); }

  Error MakeInstance(TRITONBACKEND_ModelInstance* instance,
                     std::unique_ptr<OpenVinoInstance>* made) const;

 private:
  const NereidOpenVinoAccelerator& library_;
  NereidOpenVinoModel* const loaded_;
};

}  // namespace nereid::onnxruntime
