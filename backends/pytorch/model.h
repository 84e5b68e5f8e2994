// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "framework/placement.h"
#include "framework/runner.h"
#include "nereid/backend/model_config.h"
#include "pytorch/environment.h"
#include "pytorch/session.h"

namespace nereid::pytorch {

/// A version of a model. Immutable after Load, except for the opened modules.
class TorchModel {
 public:
  /// `environment` must outlive the model.
  explicit TorchModel(const Environment* environment) : environment_(*environment) {}

  /// Opens the model file and checks the configuration against it.
  Error Load(TRITONBACKEND_Model* model);

  /// Needs nothing for a number of threads, because PyTorch keeps it for each thread of the
  /// process. UNSUPPORTED if the model runs on a GPU.
  Error PrepareThreads(uint32_t threads);

  /// Returns whether the instances on the CPU run one module, which keeps nothing for its next run.
  bool InstancesShare() const { return plan_->effects.leaves_nothing; }

  Error MakeRunner(TRITONBACKEND_ModelInstance* instance,
                   std::unique_ptr<framework::Runner>* runner) const;

 private:
  using ModulePointer = std::shared_ptr<torch::jit::Module>;

  Error MakePlan(const torch::jit::Module& module, bool on_gpu);
  /// Opens the model file where `placement` says. UNAVAILABLE if PyTorch cannot use GPUs.
  Error Open(framework::Placement placement, ModulePointer* module) const;
  /// Returns the module that the instances of a placement share, or the one that Load has opened if
  /// no instance uses it yet, or a newly opened one.
  Error ModuleForInstance(framework::Placement placement, ModulePointer* module) const;

  const Environment& environment_;
  backend::ModelConfig config_;
  std::string path_;
  std::shared_ptr<const TorchPlan> plan_;
  mutable base::Mutex mutex_;
  /// The shared modules. If modules are not shared, the one of Load until an instance takes it.
  mutable std::map<framework::Placement, ModulePointer> modules_ NEREID_GUARDED_BY(mutex_);
};

using TorchInstance = framework::RunnerInstance<const TorchModel>;

}  // namespace nereid::pytorch
