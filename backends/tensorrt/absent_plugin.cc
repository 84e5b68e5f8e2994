// SPDX-License-Identifier: Apache-2.0
// The plug-in of a build without TensorRT. Loading a model fails with a message that says what to
// install.
#include "nereid/backend/plugin.h"

namespace nereid::tensorrt {
namespace {

using backend::Error;

class AbsentModel {
 public:
  explicit AbsentModel(const backend::NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelName(model, &name));
    return Error::Unsupported(
        std::string("model '") + name +
        "': this server was built without TensorRT's headers. Install NVIDIA's packages "
        "libnvinfer-dev and cuda-cudart-dev (TensorRT 8.6 or newer), or unpack TensorRT's "
        "archive and name its folder to CMake with -DTENSORRT_ROOT=DIR; then build again");
  }
};

/// Never created, because every model fails to load.
class AbsentInstance {
 public:
  explicit AbsentInstance(const AbsentModel*) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return Error::Unsupported("there is no TensorRT"); }
  void Execute(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, uint32_t) {}
};

}  // namespace
}  // namespace nereid::tensorrt

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::tensorrt::AbsentModel,
                      nereid::tensorrt::AbsentInstance);

/// Marks a plug-in that was built without its framework: `nereid gpus` looks for the name.
extern "C" TRITONBACKEND_ISPEC void NEREIDBACKEND_BuiltWithoutFramework() {}
