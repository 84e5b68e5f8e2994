// SPDX-License-Identifier: Apache-2.0
// A plug-in that fails in every place, for the tests of the entry points.
#include <stdexcept>

#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::backend {

struct FailingModel {
  explicit FailingModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    NEREID_BACKEND_TRY(ReadModelConfig(model, &config));
    if (const std::string* text = config.parameters.Find("model_throws")) {
      throw std::runtime_error(*text);
    }
    const std::string* text = config.parameters.Find("model");
    return text == nullptr ? Error() : Error::Internal(*text);
  }

  ModelConfig config;
};

struct FailingInstance {
  explicit FailingInstance(FailingModel* owner) : model(*owner) {}

  Error Load(TRITONBACKEND_ModelInstance*) {
    const std::string* text = model.config.parameters.Find("instance");
    return text == nullptr ? Error() : Error::Internal(*text);
  }
  void Execute(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request**, uint32_t) {
    throw std::runtime_error("Execute threw");
  }

  const FailingModel& model;
};

}  // namespace nereid::backend

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::backend::FailingModel,
                      nereid::backend::FailingInstance);
