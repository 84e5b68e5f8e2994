// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "framework/session.h"
#include "pytorch/module.h"
#include "pytorch/torch_plan.h"

namespace nereid::pytorch {

/// Creates the session that runs forward for one instance. `module` must be on the GPU with the
/// ordinal `gpu`, or on the CPU for -1. Throws PyTorch's exceptions.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module,
                                                int gpu);

}  // namespace nereid::pytorch
