// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"
#include "tensorrt/engine.h"
#include "tensorrt/engine_pool.h"
#include "tensorrt/settings.h"

namespace nereid::tensorrt {

/// The state that all models share: the backend's settings, and TensorRT's library, which is opened
/// when the first model is loaded.
class TensorRtBackend {
 public:
  static constexpr TRITONSERVER_InstanceGroupKind kPreferredKind =
      TRITONSERVER_INSTANCEGROUPKIND_GPU;

  Error Load(TRITONBACKEND_Backend* backend);

  const BackendOptions& options() const { return options_; }
  /// Finds the GPU, and opens TensorRT and the plugins of its users. The driver is asked first,
  /// because TensorRT must not be called without one.
  Error Open(int ordinal, Gpu** gpu, const TensorRtLibrary** library) const;

 private:
  std::string directory_;
  BackendOptions options_;
};

/// A version of a model. Immutable after Load. Its instances on the same GPU share an engine.
class TensorRtModel {
 public:
  explicit TensorRtModel(const TensorRtBackend* backend) : backend_(*backend) {}

  /// Reads the plan file on the GPU of the first instance group, completes the configuration and
  /// checks it against the engine.
  Error Load(TRITONBACKEND_Model* model);

  /// Makes the runner of an instance. `*gpu` is the GPU that it uses.
  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner, Gpu** gpu) const;

 private:
  Error Bad(TRITONSERVER_Error_Code code, const std::string& what) const;
  /// Finds the plan for a GPU, and how to read it.
  Error FindPlan(const Gpu& gpu, int dla_core, EngineSource* source) const;
  Error MakePlan(TRITONBACKEND_Model* model, const Engine& engine);
  Error CheckBatchSize(const EngineLease& lease) const;

  const TensorRtBackend& backend_;
  backend::ModelConfig config_;
  Settings settings_;
  std::shared_ptr<const framework::RunPlan> plan_;
  // The pool changes while instances are loaded in parallel, which it permits.
  const std::unique_ptr<EnginePool> engines_ = std::make_unique<EnginePool>();
};

/// An instance of a model on a GPU.
class TensorRtInstance {
 public:
  /// `model` must outlive the instance.
  explicit TensorRtInstance(const TensorRtModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    return model_.MakeRunner(instance, &runner_, &gpu_);
  }
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    runner_->Execute(instance, requests, count);
  }
  /// Returns why the instance cannot execute any more, if its GPU is lost.
  Error CheckReady() const {
    Error error = gpu_->CheckUsable();
    return error.ok() ? runner_->CheckReady() : std::move(error);
  }

 private:
  const TensorRtModel& model_;
  std::unique_ptr<framework::Runner> runner_;
  Gpu* gpu_ = nullptr;
};

}  // namespace nereid::tensorrt
