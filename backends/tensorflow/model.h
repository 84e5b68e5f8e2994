// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "framework/plan.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/loaded_graph.h"

namespace nereid::tensorflow {

/// The settings that all models share.
struct Environment {
  Error Load(TRITONBACKEND_Backend* backend) {
    return backend::ReadBackendConfig(backend, &settings);
  }
  backend::Parameters settings;
};

/// A version of a model. Immutable after Load.
class TensorFlowModel {
 public:
  /// `environment` must outlive the model.
  explicit TensorFlowModel(const Environment* environment) : environment_(*environment) {}

  /// Opens the model file, completes the configuration if the server asks for it, and checks it.
  Error Load(TRITONBACKEND_Model* model);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  const Environment& environment_;
  backend::ModelConfig config_;
  std::shared_ptr<const LoadedGraph> graph_;
  std::shared_ptr<const framework::RunPlan> plan_;
};

/// An instance. Executes on one thread at a time.
class TensorFlowInstance {
 public:
  explicit TensorFlowInstance(const TensorFlowModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    return model_.MakeRunner(instance, &runner_);
  }
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    runner_->Execute(instance, requests, count);
  }

 private:
  const TensorFlowModel& model_;
  std::unique_ptr<framework::Runner> runner_;
};

}  // namespace nereid::tensorflow
