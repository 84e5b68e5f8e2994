// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "framework/backend_settings.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"
#include "tensorrt/engine.h"

namespace nereid::tensorrt {

/// The backend's settings. TensorRT runs on GPUs only.
struct TensorRtBackend : framework::BackendSettings {
  static constexpr TRITONSERVER_InstanceGroupKind kPreferredKind =
      TRITONSERVER_INSTANCEGROUPKIND_GPU;
};

/// A version of a model. Immutable after Load. Each instance reads the plan file again, because it
/// may use another GPU, and because before TensorRT 10 a profile of an engine can be used by one
/// execution at a time.
class TensorRtModel {
 public:
  explicit TensorRtModel(const TensorRtBackend* backend) : backend_(*backend) {}

  /// Reads the plan file and checks the configuration against it.
  Error Load(TRITONBACKEND_Model* model);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  const TensorRtBackend& backend_;
  backend::ModelConfig config_;
  std::string path_;
  std::shared_ptr<const framework::RunPlan> plan_;
};

using TensorRtInstance = framework::RunnerInstance<const TensorRtModel>;

/// Returns the engine's tensors as the configuration should describe them. INVALID_ARG if they
/// differ in which tensors are shape tensors.
Error MakeSignature(const backend::ModelConfig& config, const Engine& engine,
                    framework::ModelSignature* signature);

}  // namespace nereid::tensorrt
