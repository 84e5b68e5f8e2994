// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "framework/backend_settings.h"
#include "framework/plan.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/loaded_graph.h"

namespace nereid::tensorflow {

/// A version of a model. Immutable after Load.
class TensorFlowModel {
 public:
  /// `backend` must outlive the model.
  explicit TensorFlowModel(const framework::BackendSettings* backend) : backend_(*backend) {}

  /// Opens the model file, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  const framework::BackendSettings& backend_;
  backend::ModelConfig config_;
  std::shared_ptr<const LoadedGraph> graph_;
  std::shared_ptr<const framework::RunPlan> plan_;
};

using TensorFlowInstance = framework::RunnerInstance<const TensorFlowModel>;

}  // namespace nereid::tensorflow
