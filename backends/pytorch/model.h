// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"
#include "pytorch/session.h"

namespace nereid::pytorch {

/// A version of a model. Immutable after Load, except for the module that Load has opened.
class TorchModel {
 public:
  explicit TorchModel(const backend::NoBackendState*) {}

  /// Opens the model file and checks the configuration against it.
  Error Load(TRITONBACKEND_Model* model);

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  Error MakePlan(const torch::jit::Module& module);
  /// Returns the shared module, or the one that Load has opened if no instance uses it yet, or a
  /// newly loaded one.
  Error ModuleForInstance(std::shared_ptr<torch::jit::Module>* module) const;

  backend::ModelConfig config_;
  std::string path_;
  std::shared_ptr<const TorchPlan> plan_;
  mutable base::Mutex mutex_;
  /// Null after an instance has taken it.
  mutable std::shared_ptr<torch::jit::Module> module_ NEREID_GUARDED_BY(mutex_);
};

using TorchInstance = framework::RunnerInstance<const TorchModel>;

}  // namespace nereid::pytorch
