// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "framework/plan.h"
#include "framework/session.h"
#include "pytorch/module.h"
#include "pytorch/naming.h"

namespace nereid::pytorch {

/// What the instances of a model share. Unchanged once made.
struct TorchPlan {
  framework::RunPlan run;
  RunSettings settings;
  ForwardSignature forward;
  Naming naming;
  /// For each argument; empty: none.
  std::vector<bool> borrowable;
};

/// Runs forward for one instance.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module);

}  // namespace nereid::pytorch
