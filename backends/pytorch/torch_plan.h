// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "framework/plan.h"
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

}  // namespace nereid::pytorch
