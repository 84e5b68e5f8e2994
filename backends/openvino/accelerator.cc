// SPDX-License-Identifier: Apache-2.0
#include "openvino/accelerator.h"

#include <memory>
#include <openvino/core/version.hpp>
#include <string>
#include <utility>

#include "nereid/backend/log.h"
#include "openvino/model.h"

struct NereidOpenVinoModel {
  nereid::openvino::Environment environment;
  nereid::openvino::OpenVinoModel model{&environment};
};

struct NereidOpenVinoInstance {
  explicit NereidOpenVinoInstance(nereid::openvino::OpenVinoModel* model) : instance(model) {}
  nereid::openvino::OpenVinoInstance instance;
};

namespace nereid::openvino {
namespace {

TRITONSERVER_Error* LoadModel(TRITONBACKEND_Model* model, const char* path, const char* const* keys,
                              const char* const* values, size_t count,
                              NereidOpenVinoModel** loaded) {
  return backend::EntryPoint([&]() -> Error {
    backend::Parameters::Map map;
    for (size_t i = 0; i < count; ++i) {
      map.emplace(keys[i], values[i]);
    }
    const char* name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelName(model, &name));
    const std::string owner = std::string("model '") + name + "'";
    TRITONBACKEND_Backend* backend = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelBackend(model, &backend));
    auto made = std::make_unique<NereidOpenVinoModel>();
    NEREID_BACKEND_TRY(made->environment.Load(backend));
    NEREID_BACKEND_TRY(made->model.LoadAccelerated(
        model, path,
        backend::Parameters(owner + ": Execution Accelerator 'openvino'", std::move(map))));
    NEREID_BACKEND_LOG(INFO, owner + " is run by OpenVINO " +
                                 ov::get_openvino_version().buildNumber +
                                 ", its Execution Accelerator");
    *loaded = made.release();
    return {};
  });
}

void UnloadModel(NereidOpenVinoModel* model) { delete model; }

TRITONSERVER_Error* LoadInstance(NereidOpenVinoModel* model, TRITONBACKEND_ModelInstance* instance,
                                 NereidOpenVinoInstance** loaded) {
  return backend::EntryPoint([&]() -> Error {
    auto made = std::make_unique<NereidOpenVinoInstance>(&model->model);
    NEREID_BACKEND_TRY(made->instance.Load(instance));
    *loaded = made.release();
    return {};
  });
}

void UnloadInstance(NereidOpenVinoInstance* instance) { delete instance; }

void Execute(NereidOpenVinoInstance* loaded, TRITONBACKEND_ModelInstance* instance,
             TRITONBACKEND_Request** requests, uint32_t count) {
  loaded->instance.Execute(instance, requests, count);
}

}  // namespace
}  // namespace nereid::openvino

const NereidOpenVinoAccelerator* NereidGetOpenVinoAccelerator() {
  static constexpr NereidOpenVinoAccelerator kAccelerator = {
      NEREID_OPENVINO_ACCELERATOR_VERSION, nereid::openvino::LoadModel,
      nereid::openvino::UnloadModel,       nereid::openvino::LoadInstance,
      nereid::openvino::UnloadInstance,    nereid::openvino::Execute};
  return &kAccelerator;
}
