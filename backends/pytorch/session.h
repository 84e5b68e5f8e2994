// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "pytorch/module.h"
#include "pytorch/naming.h"

namespace nereid::pytorch {

/// The state that the instances of a model share. Immutable after creation.
struct TorchPlan {
  framework::RunPlan run;
  RunSettings settings;
  ForwardSignature forward;
  Naming naming;
  /// For each argument, whether it may use the requests' memory. Empty means none may.
  std::vector<bool> borrowable;
};

/// Creates the session that runs forward for one instance.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module);

}  // namespace nereid::pytorch
