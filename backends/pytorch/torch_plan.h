// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/plan.h"
#include "pytorch/module.h"
#include "pytorch/naming.h"
#include "pytorch/side_effects.h"

namespace nereid::pytorch {

/// The state that the instances of a model share. Immutable after creation.
struct TorchPlan {
  framework::RunPlan run;
  RunSettings settings;
  ForwardSignature forward;
  Naming naming;
  SideEffects effects;
};

}  // namespace nereid::pytorch
