// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "framework/session.h"
#include "pytorch/module.h"
#include "pytorch/torch_plan.h"

namespace nereid::pytorch {

/// Creates the session that runs forward for one instance.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const TorchPlan> plan,
                                                std::shared_ptr<torch::jit::Module> module);

}  // namespace nereid::pytorch
